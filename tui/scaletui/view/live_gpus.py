"""All GPUs in place of the ranks: the list, and the chosen one closely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.budget_stages import window
from scaletui.view.live_driver import driver_rows
from scaletui.view.live_driver_details import driver_detail_rows, source_rows
from scaletui.view.row import fit
from scaletui.view.rule import rule_row

if TYPE_CHECKING:
    from scaletui.state.live_driver import GpuLook
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import Snapshot

LEAST_DETAILS: Final = 8
"""Rows about the chosen GPU that a long list leaves."""


def gpu_rows(snapshot: Snapshot, look: GpuLook, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds; why there are none, where the driver tells of none."""
    count = len(snapshot.drivers)
    if not count:
        leave = (box.width - 1, f"esc {tr('leave')}")
        rows = (rule_row(tr("GPUs"), box.width, pen, [leave]), *source_rows(snapshot, box.width, pen))
        return rows[: box.height]
    height = list_height(count, box.height)
    table = driver_rows(snapshot, Box(box.width, height), pen, look.chosen)
    left = box.height - len(table) - 1
    details = driver_detail_rows(snapshot, look.chosen, Box(box.width, max(left, 0)), pen)
    return (*table, fit((), box.width), *details)[: box.height]


def list_height(count: int, height: int) -> int:
    """Rows of the list with its title, so that something remains for the chosen GPU."""
    return min(count + 1, max(height - LEAST_DETAILS - 1, 2))


def place_at(y: int, look: GpuLook, count: int, height: int) -> int | None:
    """The place of the GPU in that row of the pane."""
    first, last = window(count, look.chosen, list_height(count, height) - 1)
    place = first + y - 1
    return place if y >= 1 and place < last else None
