"""How long a rank's memory will last: the room at the peak, the growth, and how the peak is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.live_suspects import forecast_text
from scaletui.view.row import Span
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui_engine.live.forecast import FEWEST_POINTS, WARM_UP, trend_of
from scaletui_engine.live.judgement import headroom, used_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import RankView

NARROW: Final = 0.95
SHORT: Final = 0.85
"""Shares of the device that are used at the peak: beyond these the room is little, or hardly any."""


def forecast_rows(rank: RankView, width: int, pen: Pen) -> Iterator[Row]:
    """Rows under a title; nothing for a rank without an allocator."""
    room, share = headroom(rank), used_share(rank)
    if rank.allocator is None or room is None:
        return
    yield rule_row(tr("how long it lasts"), width, pen)
    used = "" if share is None else f"  {pen.numbers.percent(share)} {tr('used')}"
    yield pair_row(
        tr("room at the peak"), Span(pen.numbers.size(max(room, 0)) + used, room_role(share)), width, pen
    )
    if rank.sampled_peak is not None:
        label = tr("most inside a step, by sampling")
        yield pair_row(label, pen.numbers.size(rank.sampled_peak), width, pen)
    if rank.resets_peak:
        yield from wrapped(tr("the job resets its peaks: ours is the most that was ever seen"), width, "dim")
    yield from wrapped(growth_text(rank, pen), width, "warn" if trend_of(rank) else "dim")


def growth_text(rank: RankView, pen: Pen) -> str:
    """The growth of what is allocated at the end of steps, or that there is none."""
    trend = trend_of(rank)
    if trend is not None:
        return forecast_text(trend, pen)
    count = max(sum(point.allocated is not None for point in rank.history) - WARM_UP, 0)
    if count < FEWEST_POINTS:
        return tr("too few steps yet to tell whether it grows")
    return ntr("no growth in {n} step", "no growth in {n} steps", count)


def room_role(share: float | None) -> str:
    """The colour of a room, which never stands alone."""
    if share is None or share < SHORT:
        return "ok"
    return "warn" if share < NARROW else "error"
