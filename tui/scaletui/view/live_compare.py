"""Predicted beside measured, part by part and to the byte, for the rank that is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.state.live_scenario import batch_of, foretold_of, rise_of, scenario_of, told_rank
from scaletui.text.language import tr
from scaletui.view.bars import chip
from scaletui.view.cells import left, right, width_of
from scaletui.view.live_suspects import suspect_lines
from scaletui.view.live_unseen import hides_steps, no_plan_text
from scaletui.view.live_words import CATEGORY_ROLES, category_name, reason_text, unpredicted_text
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped
from scaletui_engine.live.held import CATEGORIES
from scaletui_engine.live.judgement import Difference, used_share
from scaletui_engine.live.outcome import Rebuilt
from scaletui_engine.live.predicted import Unpredicted
from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import RankView

SMALL_ROWS: Final = 3
LARGE_SHARE: Final = 0.05
"""A difference beyond it is a warning."""
SENSELESS: Final = 100.0
"""From so many times the prediction on a share says no more than the bytes do."""
NARROW: Final = 0.95
"""A rank that uses so much of its device at its peak is short of room."""
CHIP: Final = 4
"""Cells of a blank and the letter of a part."""
SMALL: Final = 60
"""Below so many columns, which only reports have, every figure has a row of its own."""
ROOMY: Final = 80
"""Columns from which figures stand wide apart."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of one category."""

    category: str
    name: str
    predicted: str
    measured: str
    difference: str
    role: str


def compare_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title with heads, one row a category that there is anything to say of, and why the rest is missing."""
    rank = state_of.rank(state)
    if rank is None:
        return ()
    lines = [_line(rank, category, pen) for category in _shown(rank)]
    lines += _rise(state, rank, pen)
    if box.width < SMALL:
        rows = [rule_row(tr("rank {rank}", rank=rank.identity.rank), box.width, pen)]
        rows += [row for line in lines for row in _small(line, box.width, pen)]
    else:
        widths = _widths(lines, box.width)
        rows = [_title(rank, widths, box.width, pen)]
        rows += [_row(line, widths, box.width, pen) for line in lines]
    for text in _missing(state, rank):
        rows += wrapped(text, box.width, "dim")
    for text in suspect_lines(told_rank(state, rank), pen):
        rows += wrapped(f"{pen.glyphs.bad} {text}", box.width, "warn")
    return tuple(rows[: box.height])


def compare_height(state: LiveState, width: int, pen: Pen) -> int:
    """Rows that the comparison would take."""
    rank = state_of.rank(state)
    if rank is None:
        return 0
    suspects = suspect_lines(told_rank(state, rank), pen)
    texts = (*_missing(state, rank), *(f"{pen.glyphs.bad} {text}" for text in suspects))
    lines = (len(_shown(rank)) + len(_rise(state, rank, pen))) * (SMALL_ROWS if width < SMALL else 1)
    return 1 + lines + sum(len(tuple(wrapped(text, width))) for text in texts)


def _shown(rank: RankView) -> list[str]:
    pairs = ((name, *_figures(rank, name)) for name in CATEGORIES)
    return [name for name, predicted, measured in pairs if predicted is not None or measured]


def _figures(rank: RankView, category: str) -> tuple[int | None, int | None]:
    return getattr(rank.prediction.held, category), getattr(rank.measured, category)


def _rise(state: LiveState, rank: RankView, pen: Pen) -> list[_Line]:
    """What comes on top of the states at the peak, where micro-batch and sequence are known."""
    told = foretold_of(state, rank)
    if told is None:
        return []
    rise = rise_of(state, rank)
    measured = None if rise is None else rise.measured
    difference, role = _difference("rest", told.total, measured, pen)
    after = "-" if measured is None else pen.numbers.integer(measured)
    name = tr("peak, beyond states")
    return [_Line("rest", name, pen.numbers.integer(told.total), after, difference, role)]


def _missing(state: LiveState, rank: RankView) -> Sequence[str]:
    """Why there is no prediction, no count at all or of buffers, or no allocator."""
    found = []
    if rank.states_reason is not Reason.AVAILABLE and not rank.measured.total:
        found.append(f"{tr('measured')}: {reason_text(rank.states_reason)}")
    if rank.buffers_reason is not Reason.AVAILABLE and rank.measured.total:
        found.append(f"{category_name('buffers')}: {reason_text(rank.buffers_reason)}")
    found += filter(None, [_unpredicted(rank)])
    if rank.allocator is None and rank.measured.total:
        found.append(f"{tr('allocator, activations')}: {reason_text(rank.allocator_reason)}")
    if (used_share(rank) or 0.0) >= NARROW and isinstance(scenario_of(state, rank), Rebuilt):
        found.append(tr("little room is left: f lists what would make the job need less"))
    is_open = rank.allocator is not None and not batch_of(state, rank).is_known
    if is_open and isinstance(scenario_of(state, rank), Rebuilt):
        found.append(tr("i tells micro-batch and sequence; then activations are predicted too"))
    return found


def _unpredicted(rank: RankView) -> str:
    """Why there is no prediction; empty where there is one."""
    reason = rank.prediction.reason
    if reason is Unpredicted.NO_PLAN and hides_steps(rank):
        return no_plan_text(rank)
    return unpredicted_text(reason, rank.prediction.detail)


def _line(rank: RankView, category: str, pen: Pen) -> _Line:
    predicted, measured = _figures(rank, category)
    difference, role = _difference(category, predicted, measured, pen)
    before, after = (
        "-" if amount is None else pen.numbers.integer(amount) for amount in (predicted, measured)
    )
    return _Line(category, category_name(category), before, after, difference, role)


def _widths(lines: list[_Line], width: int) -> tuple[int, int, int, int]:
    """Of the name and of the three figures."""
    gap = 3 if width >= ROOMY else 2
    name = max((width_of(line.name) for line in lines), default=0) + 1
    heads = (tr("predicted"), tr("measured"), tr("difference"))
    words = (
        [line.predicted for line in lines],
        [line.measured for line in lines],
        [line.difference for line in lines],
    )
    columns = [max(map(width_of, (head, *column))) + gap for head, column in zip(heads, words, strict=True)]
    return min(name, max(width - CHIP - sum(columns) - 1, 4)), columns[0], columns[1], columns[2]


def _title(rank: RankView, widths: tuple[int, int, int, int], width: int, pen: Pen) -> Row:
    """The rank and, where there is room before the heads, the step at which it was counted."""
    name, predicted, measured, _ = widths
    ends = (CHIP + name + predicted, CHIP + name + predicted + measured, CHIP + sum(widths))
    heads = [
        (end + 1, head)
        for end, head in zip(ends, (tr("predicted"), tr("measured"), tr("difference")), strict=True)
    ]
    title = tr("rank {rank}", rank=rank.identity.rank)
    if rank.measured_at_step is not None:
        step = pen.numbers.integer(rank.measured_at_step)
        longer = tr("rank {rank}, counted at step {step}", rank=rank.identity.rank, step=step)
        if width_of(longer) + 4 < ends[0] - width_of(tr("predicted")):
            title = longer
    return rule_row(title, width, pen, heads)


def _small(line: _Line, width: int, pen: Pen) -> tuple[Row, Row, Row]:
    """The part, and each figure behind its name."""
    heads = (tr("predicted"), tr("measured"))
    room, indent = max(map(width_of, heads)), Span(" " * CHIP)
    figures = max(width_of(line.predicted), width_of(line.measured))
    predicted, measured = (
        Span(f" {left(head, room)} {right(text, figures)}", role)
        for head, text, role in (
            (heads[0], line.predicted, "predicted"),
            (heads[1], line.measured, "measured"),
        )
    )
    return (
        fit((Span(" "), chip(CATEGORY_ROLES[line.category], pen), Span(f" {line.name}")), width),
        fit((indent, predicted), width),
        fit((indent, measured, Span(f" {line.difference}", line.role)), width),
    )


def _row(line: _Line, widths: tuple[int, int, int, int], width: int, pen: Pen) -> Row:
    name, predicted, measured, difference = widths
    return fit(
        (
            Span(" "),
            chip(CATEGORY_ROLES[line.category], pen),
            Span(left(f" {line.name}", name, pen.glyphs.ellipsis)),
            Span(right(line.predicted, predicted), "predicted"),
            Span(right(line.measured, measured), "measured"),
            Span(right(line.difference, difference), line.role),
        ),
        width,
    )


def _difference(category: str, predicted: int | None, measured: int | None, pen: Pen) -> tuple[str, str]:
    if predicted is None or measured is None:
        return "", "dim"
    difference = Difference(category, predicted, measured)
    if difference.bytes == 0:
        return f"{pen.glyphs.ok} 0 B", "ok"
    tells = 0 < abs(difference.share) < SENSELESS
    share = f" {pen.numbers.signed_percent(difference.share)}" if tells else ""
    role = "warn" if abs(difference.share) > LARGE_SHARE else "text"
    return pen.numbers.signed(difference.bytes, pen.numbers.size) + share, role
