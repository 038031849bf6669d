"""The third column: what the letters stand for, where each number comes from, and what was searched."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.text.language import N_, tr
from scaletui.view.bars import chip
from scaletui.view.live_empty import place_text
from scaletui.view.live_words import CATEGORY_ROLES, category_name
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped
from scaletui_engine.live.held import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

_SOURCES: Final = MappingProxyType({
    "weights": N_("what a rank keeps of the parameters, padding included"),
    "gradients": N_("counted before the optimizer's step: zero_grad drops them after it"),
    "optimizer": N_("moments, not padded, and a step count for each parameter"),
    "master_weights": N_("full-precision copies beside 16-bit weights"),
    "buffers": N_("what modules hold that is no parameter"),
    "unsharded": N_("parameters and gradients gathered for the moment"),
    "rest": N_("what the allocator holds beyond the categories"),
})  # fmt: skip
_PREDICTED: Final = N_(
    "Predicted: from the shapes, dtypes and placements of the parameters and the optimizer's class; no "
    "measured byte goes into it."
)
_MEASURED: Final = N_(
    "Measured: the memory behind the tensors, each storage once, in the hooks around an optimizer step."
)


def explain_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds."""
    return tuple(_rows(state, box.width, pen))[: box.height] if state_of.job(state) else ()


def _rows(state: LiveState, width: int, pen: Pen) -> Iterator[Row]:
    yield rule_row(tr("parts"), width, pen)
    for category in CATEGORIES:
        name = Span(f" {category_name(category)}")
        yield fit((Span(" "), chip(CATEGORY_ROLES[category], pen), name), width)
        yield from wrapped(tr(_SOURCES[category]), width, "dim", "     ")
    yield fit((), width)
    yield rule_row(tr("numbers"), width, pen)
    yield from wrapped(tr(_PREDICTED), width)
    yield from wrapped(tr(_MEASURED), width)
    yield fit((), width)
    yield rule_row(tr("searched"), width, pen)
    for place in state.shown.places if state.shown else ():
        yield from wrapped(place_text(place), width, "dim")
