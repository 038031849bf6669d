"""Many ranks as a map: how they share the cells, what they are measured by, and walking over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum

if TYPE_CHECKING:
    from scaletui.view.box import Box

BLOCK: Final = 8
"""Columns come in blocks of so many: the GPUs of a usual node."""
SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Ranks that a cell may stand for."""


class Measure(StrEnum):
    """What colours a cell."""

    USED = "used at the peak"
    HELD = "held now"
    STEP_TIME = "step time"
    AGE = "age"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class HeatLayout:
    """A map of ranks in rows of cells."""

    count: int
    size: int
    """Ranks of a cell."""
    columns: int
    width: int
    """Columns of the terminal that a cell takes."""

    @property
    def cells(self) -> int:
        """Cells in all."""
        return -(-self.count // self.size)

    @property
    def rows(self) -> int:
        """Rows in all."""
        return -(-self.cells // self.columns)


def layout_for(count: int, box: Box) -> HeatLayout:
    """The map with the fewest ranks a cell that has room in the box; the last of them where none has."""
    for size in SIZES:
        for width in (3, 2, 1) if size == 1 else (1,):
            most = box.width // width
            columns = max(most - most % BLOCK, min(most, BLOCK), 1)
            found = HeatLayout(count, size, columns, width)
            if found.rows <= box.height:
                return found
    return HeatLayout(count, -(-count // max(box.width * box.height, 1)), max(box.width, 1), 1)


def moved(place: int, by: tuple[int, int], layout: HeatLayout) -> int:
    """The place of the rank so many cells across and down from that of another; the map ends at its edges."""
    across, down = by
    cell = place // layout.size + across + down * layout.columns
    if not 0 <= cell < layout.cells:
        return place
    return min(cell * layout.size, layout.count - 1)


def place_at(x: int, y: int, layout: HeatLayout) -> int | None:
    """The place of the first rank of the cell at a column and a row of the map; None beside it."""
    column = x // layout.width
    cell = y * layout.columns + column
    return cell * layout.size if 0 <= column < layout.columns and 0 <= cell < layout.cells else None
