"""One step of a stage: memory against time, with its peak named and the phases below.

─ one step of stage 0 ─────────── peak 40.0 GiB ─
 ▁▂▂▃▃▄▅▆█▇▆▅▅▄▄▃▂▂▂▁
 forward ▲ backward    step
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from scaletui.state.budget import chosen_stage, closer_look
from scaletui.state.study import cells_of
from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.view.box import Box
from scaletui.view.budget_stack import stack_rows
from scaletui.view.cells import left, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui.view.trace import Scale, trace_rows

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState
    from scaletui.state.study import Cell
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.timeline import StepTimeline

_AROUND: Final = 6
"""Cells of the line around a title and what stands at its end."""
LEAST: Final = 3
"""Rows below which there is no picture."""
STACKED: Final = 4
"""Rows of a curve from which on its parts are drawn."""
_LABELS: Final = {
    "forward": N_("forward"), "loss": N_("loss"), "head": N_("loss"), "backward": N_("backward"),
    "end_of_backward": N_("backward"), "step": N_("step"), "idle": N_("waits"),
}  # fmt: skip
_ROLES: Final = {"forward": "forward", "loss": "loss", "backward": "backward", "step": "optimizer"}
_PASSES: Final = {"forward": "F", "backward": "B"}
"""What a pass is called where its name has no room."""


def step_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title, curve and phases in exactly the box's rows; blank until the engine has looked closer."""
    study, budget = closer_look(state), state.budget
    title = tr("one step of stage {stage}", stage=chosen_stage(state))
    if study is None or budget is None:
        return (rule_row(title, box.width, pen), *(fit((), box.width),) * (box.height - 1))
    cells = cells_of(study.step, max(box.width - 2, 1))
    top = max(budget.capacity_bytes, max(cell.amount for cell in cells))
    scale = Scale(0.0, float(top), float(budget.capacity_bytes))
    inner = Box(len(cells), max(box.height - 2, 1))
    curve = curve_rows(cells, scale, inner, pen)
    return (
        rule_row(
            title, box.width, pen, [(box.width - 1, _named(study.step, box.width - width_of(title), pen))]
        ),
        *(fit((Span(" "), *row), box.width) for row in curve),
        fit((Span(" "), *phase_row(cells, _highest(cells), pen.glyphs.up)), box.width),
    )


def curve_rows(cells: list[Cell], scale: Scale, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The parts one on the other; one curve for their sum where rows are too few to tell them apart."""
    if box.height >= STACKED:
        return stack_rows([cell.parts for cell in cells], scale, box, pen.glyphs)
    return trace_rows([float(cell.amount) for cell in cells], scale, box, pen.glyphs)


def _named(step: StepTimeline, room: int, pen: Pen) -> str:
    """The mark with the peak's name, or with its size where the line has no room for more."""
    name = f"{pen.glyphs.up} {_peak(step, pen)}"
    if width_of(name) + _AROUND <= room:
        return name
    return f"{pen.glyphs.up} {pen.numbers.bytes(step.points[step.peak].parts.total)}"


def _peak(step: StepTimeline, pen: Pen) -> str:
    point = step.points[step.peak]
    amount = pen.numbers.bytes(point.parts.total)
    if point.layer is None:
        return tr("peak {amount}: {moment}", amount=amount, moment=explain(f"phase.{point.phase}"))
    return tr(
        "peak {amount}: {phase}, layer {layer}",
        amount=amount,
        phase=tr(_label(point.phase)),
        layer=point.layer,
    )


def _label(phase: str) -> str:
    return _LABELS.get(phase, phase)


def _highest(cells: list[Cell]) -> int:
    """The column of the peak: the first of the highest."""
    return max(range(len(cells)), key=lambda column: (cells[column].amount, -column))


def phase_row(cells: list[Cell], peak: int, mark: str) -> Row:
    """Each stretch of one phase under its word, where it is long enough for it, and a mark under the peak.

    Where no stretch of a pass has room for its word, letters name both passes.
    """
    spans: list[Span] = []
    start = 0
    stretches = [(label, len(list(each))) for label, each in groupby(cells, key=lambda c: _label(c.phase))]
    wide = {label for label, width in stretches if width > width_of(tr(label))}
    named = {label for label, _ in stretches if label in _PASSES} <= wide
    for label, width in stretches:
        role = _ROLES.get(label, "dim")
        before = peak - start if start <= peak < start + width else width
        word = tr(label) if named or label not in _PASSES else _PASSES[label]
        spans += _stretch(word, (before, width), role)
        if before < width:
            spans.insert(-1, Span(mark, "accent"))
        start += width
    return merge(spans)


def _stretch(word: str, places: tuple[int, int], role: str) -> list[Span]:
    """What stands before and behind the marked cell: the word where it has room, before it if it can."""
    before, width = places
    after = max(width - before - 1, 0)
    is_first = before > width_of(word)
    is_second = not is_first and after > width_of(word) + 1
    return [
        Span(left(word if is_first else "", before), role),
        Span(left(f" {word}" if is_second else "", after), role),
    ]
