"""Who gets which rows of the schedule screen: lanes first, then memory, then words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui.view.budget_stages import window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.schedule_sight import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

HEAD: Final = 2
"""Title and playhead."""
WORDS: Final = (10, 7, 6, 5, 4, 3, 2, 1)
"""Rows for words, as many as lanes leave: all of them, without the panel, and so on down to the cursor's."""
WIDE_WORDS: Final = (2, 1)
"""The same where a column at the side has the words: axis and legend."""
PANEL: Final = 5
"""Rows of the bubble panel, its title included."""
BARE: Final = 2
"""Rows for words below which the bubble has none of its own."""
MOST_STRIP: Final = 2
FEW_WORDS: Final = 5
"""Rows for words that strips of all ranks leave; else they fold into one."""
BIG_WORDS: Final = 4
"""The same beneath a projector's lanes of two rows: axis, legend, cursor and bubble, a row each."""
LEAST_PLAN: Final = 8
"""Rows for the plan's fields, where they stand below the lanes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows of each part."""

    tall: int
    """Of one lane."""
    groups: tuple[range, ...]
    """The ranks of each lane of one run: one, or several where time is dense."""
    strips: tuple[int, ...] = ()
    """The ranks that have a memory strip."""
    strip: int = 1
    """Rows of a strip."""
    runs: int = 1
    bare: bool = False
    """Whether the rows left for words do not hold the bubble."""

    @property
    def lanes(self) -> int:
        """Rows of all lanes, strips, and titles of runs."""
        titles = self.runs if self.runs > 1 else 0
        return self.runs * len(self.groups) * self.tall + titles + len(self.strips) * self.strip


def layout_of(sight: Sight, box: Box, pen: Pen, words: Sequence[int]) -> Layout:
    """`box` is all that lanes and words share, its width that of time alone; `words` the most first."""
    layout = _lanes_of(sight, box, pen, words)
    left = max(box.height - HEAD, 0) - layout.lanes
    return replace(layout, bare=left < BARE < words[0])


def _lanes_of(sight: Sight, box: Box, pen: Pen, words: Sequence[int]) -> Layout:
    runs = len(sight.picture.runs)
    titles = runs if runs > 1 else 0
    room = max(box.height - HEAD, runs * 2 + words[-1])
    doubled = 2 * runs * sight.picture.ranks + titles + min(words[0], BIG_WORDS)
    tall = 2 if pen.big and doubled <= room else 1
    lanes = (room - words[-1] - titles) // (runs * tall)
    if lanes < sight.picture.ranks and runs == 1 and sight.look.strips:
        lanes -= 1  # ranks are left out, or share a lane, anyhow: the chosen one keeps its strip
    groups = _groups(sight, max(lanes, 1), box.width)
    layout = Layout(tall, groups, runs=runs)
    left = room - layout.lanes
    if runs > 1 or not sight.look.strips:
        return _taller(layout, left - _most(words, left))
    return _with_strips(layout, sight.look.rank, left, words)


def _with_strips(layout: Layout, rank: int, left: int, words: Sequence[int]) -> Layout:
    """A strip under every rank where that leaves room for words, else one under the chosen rank, or none."""
    ranks = tuple(group.start for group in layout.groups)
    least = min(words[0], BIG_WORDS if layout.tall > 1 else FEW_WORDS)
    if len(ranks) == layout.groups[-1].stop - ranks[0] and left - len(ranks) >= least:
        spare = left - len(ranks) - _most(words, left - len(ranks))
        height = min(1 + spare // len(ranks), MOST_STRIP)
        return _taller(replace(layout, strips=ranks, strip=height), spare - (height - 1) * len(ranks))
    spare = left - 1 - _most(words, left - 1)
    if spare < 0:
        return layout
    return replace(layout, strips=(rank,), strip=min(1 + spare, MOST_STRIP))


def _most(words: Sequence[int], left: int) -> int:
    """The most rows of words that fit."""
    return next((rows for rows in words if rows <= left), words[-1])


def _taller(layout: Layout, left: int) -> Layout:
    """Lanes twice as tall where rows would stay empty."""
    rows = layout.runs * len(layout.groups) * layout.tall
    return replace(layout, tall=layout.tall * 2) if left >= rows else layout


def _groups(sight: Sight, lanes: int, width: int) -> tuple[range, ...]:
    ranks = sight.picture.ranks
    if ranks <= lanes:
        return tuple(range(rank, rank + 1) for rank in range(ranks))
    if sight.is_dense(sight.own, width):
        each = -(-ranks // lanes)
        return tuple(range(first, min(first + each, ranks)) for first in range(0, ranks, each))
    first, last = window(ranks, sight.look.rank, lanes)
    return tuple(range(rank, rank + 1) for rank in range(first, last))
