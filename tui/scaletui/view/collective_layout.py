"""How the picture of a collective goes into the cells there are: which ranks, how many blocks to a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scaletui.state.collective_sight import Sight
    from scaletui.view.box import Box

LABEL: Final = 6
"""Pointer, name, blank."""
SIDE: Final = 27
NARROW_SIDE: Final = 10
"""Cells for what arrives and what was sent: all of it, or the bytes alone."""
MOST_LINES: Final = 3
"""Rows of one block."""
WIDEST: Final = 14
LONG: Final = 100
"""The widest block where there are few of them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything about the picture that a step does not change."""

    ranks: range
    """The ranks that are shown."""
    node_rows: bool
    """Whether a line stands above every node."""
    cell: int
    """Cells of one block, its gap included; 1 has no gap."""
    blocks_a_cell: int
    blocks: int
    side: int
    lines: int
    """Rows of one rank's blocks."""
    gap: int
    """Blank rows beneath them."""
    label: int = LABEL
    """Cells in front of a rank's blocks."""

    @property
    def columns(self) -> int:
        """Cells of all blocks."""
        return -(-self.blocks // self.blocks_a_cell) * self.cell

    def height_with(self, nodes: int) -> int:
        """Rows that the picture takes, the lines of so many nodes included."""
        rows = len(self.ranks) * (self.lines + self.gap) - self.gap
        return rows + (nodes if self.node_rows else 0)


def layout_of(sight: Sight, box: Box, nodes: int, *, big: bool = False) -> Layout:
    """The layout in a box; `nodes` is how many lines would name nodes, 0 where there is one."""
    ranks, blocks = sight.played.ranks, len(sight.player.starts)
    label = max(LABEL, len(str(sight.number(ranks - 1))) + 3)
    side = SIDE if box.width - label - SIDE >= min(blocks, 64) * 2 else NARROW_SIDE
    room = max(box.width - label - side, 1)
    a_cell = -(-blocks // room)
    shown = -(-blocks // a_cell)
    widest = LONG if blocks < 4 else WIDEST * (2 if big else 1)
    cell = min(room // shown, widest)
    named = 0 < nodes <= max(box.height - ranks, 0)
    rows = box.height - (nodes if named else 0)
    window = _window(ranks, sight.rank, max(rows, 1))
    spare = rows // len(window) if len(window) == ranks else 1
    least = 2 if big and rows >= 2 * len(window) else 1
    lines = max(min(spare - 1, MOST_LINES), least)
    gap = int(spare > lines)
    return Layout(window, named, cell, a_cell, blocks, side, lines, gap, label)


def _window(ranks: int, rank: int, rows: int) -> range:
    """As many ranks as there are rows, the chosen one among them."""
    if ranks <= rows:
        return range(ranks)
    first = min(max(rank - rows // 2, 0), ranks - rows)
    return range(first, first + rows)
