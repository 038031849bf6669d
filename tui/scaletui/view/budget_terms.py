"""A part taken apart: its terms at the peak with formula and source, and the tensors they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.budget import closer_look
from scaletui.text.language import tr
from scaletui.text.terms import term
from scaletui.view.row import Span
from scaletui.view.rule import pair_row, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.budget import BudgetState
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_engine.memory.explain import Item, TensorBytes

MOST_TENSORS: Final = 8
"""Tensors of a term that are listed, the largest."""


def term_rows(state: BudgetState, width: int, pen: Pen) -> Iterator[Row]:
    """Every term of the chosen part; nothing until the engine has looked closer."""
    study = closer_look(state)
    for item in study.explanation.of(state.part) if study else ():
        yield from _item(item, width, pen)


def _item(item: Item, width: int, pen: Pen) -> Iterator[Row]:
    yield pair_row(Span(term(item.name)), pen.numbers.size(item.bytes), width, pen)
    if item.formula.text:
        yield from wrapped(f"= {item.formula.text}", width, "dim", "   ")
    if item.formula.source:
        yield from wrapped(item.formula.source, width, "dim", "   ")
    for tensor in item.tensors[:MOST_TENSORS]:
        yield pair_row(f"  {_tensor(tensor, pen)}", pen.numbers.size(tensor.bytes), width, pen)
    rest = item.tensors[MOST_TENSORS:]
    if rest:
        amount = pen.numbers.size(sum(tensor.bytes for tensor in rest))
        yield pair_row("  " + tr("{count} more", count=len(rest)), amount, width, pen)


def _tensor(tensor: TensorBytes, pen: Pen) -> str:
    shape = "x".join(map(str, tensor.shape))
    times = f" {pen.glyphs.times} {tensor.count}" if tensor.count > 1 else ""
    return f"{term(tensor.name) if not shape else tensor.name} {shape}{times}"
