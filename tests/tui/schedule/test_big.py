"""The schedule screen for a projector: nothing of a pipeline that fits is left out for tall lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.view.big import BIG_HEIGHT
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.schedule_layout import HEAD, WORDS, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.schedule_sight import Sight

PEN = Pen(big=True)
ROOM = 24 - 3 - BIG_HEIGHT
"""Rows of a terminal of 24 that lanes and words share: without header, news, keys and the answer."""


@pytest.mark.parametrize(
    ("ranks", "tall", "strips"),
    [(2, 2, (0, 1)), (3, 2, (0, 1, 2)), (4, 2, (0, 1, 2, 3)), (5, 2, (0,)), (8, 1, (0,)), (12, 1, (0,))],
)
def test_every_rank_is_there_and_a_strip_beneath_each_that_leaves_four_rows(
    ranks: int, tall: int, strips: tuple[int, ...], make_sight: Callable[..., Sight]
) -> None:
    layout = layout_of(make_sight(ranks=ranks, microbatches=16), Box(75, ROOM), PEN, WORDS)
    assert [group.start for group in layout.groups] == list(range(ranks))
    assert (layout.tall, layout.strips) == (tall, strips)
    assert HEAD + layout.lanes <= ROOM


@pytest.mark.parametrize(("ranks", "tall"), [(2, 2), (4, 1), (5, 1)])
def test_two_schedules_both_show_all_their_ranks(
    ranks: int, tall: int, make_sight: Callable[..., Sight]
) -> None:
    layout = layout_of(make_sight(ranks=ranks, beside=("gpipe",)), Box(75, ROOM), PEN, WORDS)
    assert len(layout.groups) == ranks
    assert layout.tall == tall
