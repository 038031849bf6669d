"""Predicted beside measured, part by part and to the byte, for the rank that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui.text.language import tr
from scaletui.view.bars import chip
from scaletui.view.cells import left, right, width_of
from scaletui.view.live_words import CATEGORY_ROLES, category_name, reason_text, unpredicted_text
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui_engine.live.held import CATEGORIES
from scaletui_engine.live.judgement import Difference
from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import RankView

LARGE_SHARE = 0.05
"""A difference beyond it is a warning."""
NAME = 15
FIGURE = 15


def compare_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title with heads, one row a category that there is anything to say of, and why the rest is missing."""
    rank = state_of.rank(state)
    if rank is None:
        return ()
    lines = [(name, *_figures(rank, name)) for name in CATEGORIES]
    shown = [line for line in lines if line[1] is not None or line[2]]
    rows = [_title(rank, box.width, pen), *(_row(line, box.width, pen) for line in shown)]
    rows += [fit((Span(f" {text}", "dim"),), box.width) for text in _missing(rank)]
    return tuple(rows[: box.height])


def compare_height(state: LiveState) -> int:
    """Rows that the comparison would take."""
    rank = state_of.rank(state)
    if rank is None:
        return 0
    figures = [_figures(rank, name) for name in CATEGORIES]
    return (
        1
        + sum(predicted is not None or bool(measured) for predicted, measured in figures)
        + len(_missing(rank))
    )


def _figures(rank: RankView, category: str) -> tuple[int | None, int | None]:
    return getattr(rank.prediction.held, category), getattr(rank.measured, category)


def _missing(rank: RankView) -> Sequence[str]:
    """Why there is no prediction, no count, or no allocator."""
    found = []
    if rank.states_reason is not Reason.AVAILABLE and not rank.measured.total:
        found.append(f"{tr('measured')}: {reason_text(rank.states_reason)}")
    why = unpredicted_text(rank.prediction.reason, rank.prediction.detail)
    if why:
        found.append(why)
    if rank.allocator is None and rank.measured.total:
        found.append(f"{tr('allocator, activations and temporaries')}: {reason_text(rank.allocator_reason)}")
    return found


def _title(rank: RankView, width: int, pen: Pen) -> Row:
    number = rank.identity.rank
    if rank.measured_at_step is None:
        title = tr("rank {rank}", rank=number)
    else:
        step = pen.numbers.integer(rank.measured_at_step)
        title = tr("rank {rank}, counted at step {step}", rank=number, step=step)
    start = 5 + NAME
    heads = [
        (start + FIGURE + 1, tr("predicted")),
        (start + 2 * FIGURE + 2, tr("measured")),
        (start + 3 * FIGURE + 3, tr("difference")),
    ]
    if heads[0][0] - width_of(heads[0][1]) - 2 < 3 + width_of(title):
        title = tr("rank {rank}", rank=number)
    return rule_row(title, width, pen, heads)


def _row(line: tuple[str, int | None, int | None], width: int, pen: Pen) -> Row:
    category, predicted, measured = line
    role = CATEGORY_ROLES[category]
    name = left(f" {category_name(category)}", NAME + 1, pen.glyphs.ellipsis)
    text, judged = _difference(category, predicted, measured, pen)
    return fit(
        (
            Span(" "),
            chip(role, pen),
            Span(name),
            Span(_bytes(predicted, pen), "predicted"),
            Span(" " + _bytes(measured, pen), "measured"),
            Span(f" {right(text, FIGURE)}", judged),
        ),
        width,
    )


def _bytes(amount: int | None, pen: Pen) -> str:
    return right("-" if amount is None else pen.numbers.integer(amount), FIGURE)


def _difference(category: str, predicted: int | None, measured: int | None, pen: Pen) -> tuple[str, str]:
    if predicted is None or measured is None:
        return "", "dim"
    difference = Difference(category, predicted, measured)
    if difference.bytes == 0:
        return f"{pen.glyphs.ok} 0 B", "ok"
    share = "" if predicted == 0 else f" {pen.numbers.signed_percent(difference.share)}"
    role = "warn" if abs(difference.share) > LARGE_SHARE else "text"
    return pen.numbers.signed(difference.bytes, pen.numbers.size) + share, role
