"""How the rows of the live screen are shared out between ranks, comparison and trend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.view.big import BIG_HEIGHT
from scaletui.view.black_box import black_box_height
from scaletui.view.live_alerts import alert_rows
from scaletui.view.live_compare import compare_height
from scaletui.view.live_ranks import rank_height
from scaletui.view.live_skew import skew_rows

if TYPE_CHECKING:
    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

LEAST_TREND: Final = 2
FEWEST_RANKS: Final = 2
MOST_BLACK_BOX: Final = 8
"""Rows of it that ranks and comparison give way to."""


@dataclass(frozen=True, slots=True)
class Room:
    """Rows of the panes; the trend takes the rest."""

    answer: int
    alerts: int
    ranks: int
    skew: int
    compare: int


def _least_below(state: LiveState, width: int, pen: Pen) -> int:
    """Rows that curves or, of a job that has ended, its black box keep."""
    return max(LEAST_TREND, min(black_box_height(state, width, pen), MOST_BLACK_BOX))


def room_for(state: LiveState, box: Box, pen: Pen) -> Room:
    """The room in a box that holds the answer, the alerts and the column below them.

    Alerts come first, then the comparison as long as two ranks and two rows of trend remain, then the ranks.
    """
    answer = BIG_HEIGHT if pen.big else 1
    alerts = len(alert_rows(state, box, pen))
    tall = rank_height(pen)
    count = max(len(state_of.ordered(state)), 1)
    least = 1 + tall * min(count, FEWEST_RANKS)
    body = max(box.height - answer - alerts - _least_below(state, box.width, pen), 0)
    compare = min(compare_height(state, box.width, pen), max(body - least, 0))
    skew = min(len(skew_rows(state, box.width, pen)), max(body - compare - least, 0))
    ranks = max(min(1 + tall * count, body - compare - skew), 1)
    return Room(answer, alerts, ranks, skew, compare)
