"""Rings that could not be read: how many beside a job, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr
from scaletui.view.live_words import fault_text
from scaletui.view.rule import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import Snapshot

MOST: Final = 4
"""Files that are named one by one."""


def fault_facts(snapshot: Snapshot | None) -> tuple[str, ...]:
    """What the header says of them; nothing where all were read."""
    faults = () if snapshot is None else snapshot.faults
    if not faults:
        return ()
    count = ntr("{n} ring not read", "{n} rings not read", len(faults))
    return (f"{count} ({fault_text(faults[0].fault)})",)


def fault_rows(snapshot: Snapshot, width: int) -> Iterator[Row]:
    """Each file and what is wrong with it, and how many more there are."""
    for fault in snapshot.faults[:MOST]:
        detail = f" ({fault.detail})" if fault.detail else ""
        yield from wrapped(f"{fault.path} {fault_text(fault.fault)}{detail}", width, "warn")
    more = len(snapshot.faults) - MOST
    if more > 0:
        yield from wrapped(ntr("{n} more ring not read", "{n} more rings not read", more), width, "warn")
