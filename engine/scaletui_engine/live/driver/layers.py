"""The three layers of a GPU's memory, which add up.

    driver used = other processes + these processes outside PyTorch (context, NCCL) + reserved
    reserved    = active + inactive split + free segments
    active      = the categories

Driver, allocator and categories are read at different moments: a difference below zero is shown as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.live.driver.matching import process_of
from scaletui_engine.live.driver.reading import DriverState, Lack, NotAvailable
from scaletui_engine.live.held import Held

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scaletui_engine.live.driver.matching import Seat
    from scaletui_engine.live.snapshot import RankView


@dataclass(frozen=True, slots=True)
class Layers:
    """Bytes of one GPU; of several ranks on it the sums."""

    total: int | None
    """The device's memory; None where nobody tells."""
    used: int | None
    """What the driver has given to anybody; None where it does not tell."""
    reserved: int
    """By the allocators; what is held where an allocator keeps no account."""
    active: int
    inactive_split: int
    held: Held
    """The categories, as far as they lie on the device."""
    own: int | None = None
    """Of the ranks' processes beside PyTorch: context, NCCL; None where the driver lists not all of them."""
    shares_host: bool = False
    """Whether `total` is the machine's memory, which the GPU shares."""

    @property
    def free_segments(self) -> int:
        """Reserved, and neither held nor the rest of a segment that is split."""
        return max(self.reserved - self.active - self.inactive_split, 0)

    @property
    def outside(self) -> int | None:
        """Everything that the driver counts beside PyTorch's allocators."""
        return None if self.used is None else max(self.used - self.reserved, 0)

    @property
    def others(self) -> int | None:
        """Other processes; None where they cannot be told from the ranks' own."""
        if self.outside is None or self.own is None:
            return None
        return max(self.outside - self.own, 0)


def layers(ranks: Sequence[RankView], seat: Seat | None = None) -> Layers:
    """The layers of a GPU by its ranks and, where there is one, by its driver."""
    reserved = sum(_reserved(rank) for rank in ranks)
    total, used, shares = device_memory(ranks, seat)
    return Layers(
        total=total,
        used=used,
        reserved=reserved,
        active=sum(_active(rank) for rank in ranks),
        inactive_split=sum(_allocated(rank, "inactive_split") or 0 for rank in ranks),
        held=_together(_on_device(rank) for rank in ranks),
        own=_own(ranks, seat),
        shares_host=shares,
    )


def device_memory(ranks: Sequence[RankView], seat: Seat | None) -> tuple[int | None, int | None, bool]:
    """Total, used, and whether total is the machine's: by NVML, else by what a rank asked CUDA itself."""
    view = None if seat is None else seat.view
    if view is not None and isinstance(view.used, NotAvailable) and view.used.lack is Lack.UNIFIED:
        return (None if view.host is None else view.host.total), None, True
    if view is not None and isinstance(view.used, int) and isinstance(view.total, int):
        return view.total, view.used, False
    if view is not None and view.state is DriverState.LOST:
        return None, None, False
    for rank in ranks:
        if rank.driver_total is not None and rank.driver_free is not None:
            return rank.driver_total, rank.driver_total - rank.driver_free, False
    return None, None, False


def _own(ranks: Sequence[RankView], seat: Seat | None) -> int | None:
    """What the driver lists for the ranks' processes, less what their allocators reserve."""
    if seat is None or not ranks:
        return None
    found = [process_of(rank, seat) for rank in ranks]
    sizes = [process.used for process in found if process is not None and isinstance(process.used, int)]
    if len(sizes) != len(ranks):
        return None
    return max(sum(sizes) - sum(_reserved(rank) for rank in ranks), 0)


def _reserved(rank: RankView) -> int:
    reserved = _allocated(rank, "reserved")
    return _active(rank) if reserved is None else reserved


def _active(rank: RankView) -> int:
    active = _allocated(rank, "active")
    return rank.now.total if active is None else active


def _allocated(rank: RankView, name: str) -> int | None:
    return None if rank.allocator is None else getattr(rank.allocator, name)


def _on_device(rank: RankView) -> Held:
    """What a rank holds less what was counted in its host memory; in a CPU job that is all it holds."""
    if rank.allocator is None:
        return rank.now
    on_host = dict(rank.on_host.items())
    kept = {
        name: None if amount is None else max(amount - (on_host[name] or 0), 0)
        for name, amount in rank.now.items()
    }
    return Held(**kept)


def _together(all_held: Iterable[Held]) -> Held:
    """The sums of the categories; one that nobody counted stays uncounted."""
    sums: dict[str, int | None] = {}
    for held in all_held:
        for name, amount in held.items():
            if amount is not None:
                sums[name] = (sums.get(name) or 0) + amount
    return Held(**sums)
