"""A rank's memory as the parts of a bar, and as figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.view.live_words import CATEGORY_ROLES

if TYPE_CHECKING:
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import RankView


def capacity_of(rank: RankView) -> int:
    """What the bar is held against: the device's memory; 0 without a device."""
    return rank.driver_total or 0


def held_by(rank: RankView) -> int:
    """Bytes in the counted categories, now or after the last step, whichever is more."""
    return max(rank.now.total, rank.measured.total)


def bar_parts(rank: RankView) -> tuple[tuple[str, int], ...]:
    """Categories, then what the allocator keeps beyond them, then what the driver gave to anybody else."""
    parts = tuple((CATEGORY_ROLES[name], amount or 0) for name, amount in rank.now.items())
    allocator = rank.allocator
    if allocator is None or allocator.reserved is None:
        return parts
    active = allocator.active if allocator.active is not None else sum(amount for _, amount in parts)
    slack = ("reserved", max(allocator.reserved - active, 0))
    if rank.driver_total is None or rank.driver_free is None:
        return (*parts, slack)
    outside = max(rank.driver_total - rank.driver_free - allocator.reserved, 0)
    return (*parts, slack, ("overhead", outside))


def note_of(rank: RankView, pen: Pen) -> str:
    """Allocated / reserved / device in GiB, or what is held where there is no allocator."""
    allocator = rank.allocator
    if allocator is None or allocator.allocated is None:
        held = held_by(rank)
        return pen.numbers.size(held) if held else "-"
    figures = (allocator.allocated, allocator.reserved, rank.driver_total)
    return "/".join(pen.numbers.gib(figure) for figure in figures if figure is not None)
