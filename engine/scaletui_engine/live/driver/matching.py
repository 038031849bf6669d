"""Which rank is on which GPU: by the UUID that the rank published, never by an index.

What CUDA calls device 0 in a job depends on CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER; NVML's index on
neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.driver.reading import NotAvailable
from scaletui_engine.live.evidence import RankState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scaletui_engine.live.driver.reading import DriverProcess, DriverView
    from scaletui_engine.live.snapshot import RankView, Snapshot

_PREFIXED: Final = re.compile(r"(?:gpu|mig)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


@dataclass(frozen=True, slots=True)
class Seat:
    """One GPU or MIG instance, and the living ranks on it."""

    view: DriverView
    ranks: tuple[RankView, ...] = ()


@lru_cache(maxsize=4096)
def bare(uuid: str) -> str:
    """The UUID alone: PyTorch does not say whether it is a GPU's or a MIG instance's. No two are equal."""
    match = _PREFIXED.fullmatch(uuid.lower())
    return match[1] if match else uuid.lower()


class Finder:
    """Finds the GPU of a rank among those of a driver."""

    def __init__(self, drivers: Iterable[DriverView]) -> None:
        self._by_uuid: dict[str, DriverView] = {}
        self._by_parent: dict[str, list[DriverView]] = {}
        for view in drivers:
            self._by_uuid[bare(view.uuid)] = view
            if view.mig is not None:
                self._by_parent.setdefault(bare(view.mig.parent_uuid), []).append(view)

    def find(self, rank: RankView) -> DriverView | None:
        """The GPU that a rank published, or its MIG instance; None where the driver does not know it."""
        wanted = bare(rank.identity.device_uuid)
        if not wanted:
            return None
        return self._by_uuid.get(wanted) or _instance(rank, self._by_parent.get(wanted, ()))


def seats(snapshot: Snapshot) -> tuple[Seat, ...]:
    """Every GPU that the driver knows with the ranks of all jobs that live on it, in the driver's order."""
    if not snapshot.drivers:
        return ()
    finder = Finder(snapshot.drivers)
    on: dict[int, list[RankView]] = {}
    for rank in (rank for job in snapshot.jobs for rank in job.ranks):
        view = finder.find(rank) if rank.verdict.state is RankState.RUNNING else None
        if view is not None:
            on.setdefault(id(view), []).append(rank)
    return tuple(Seat(view, tuple(on.get(id(view), ()))) for view in snapshot.drivers)


def _instance(rank: RankView, instances: Sequence[DriverView]) -> DriverView | None:
    """The instance of a rank that published its whole GPU: the one that lists its pid, or the only one."""
    pid = rank.identity.process.pid
    by_pid = [view for view in instances if any(process.pid == pid for process in _listed(view))]
    found = by_pid or instances
    return found[0] if len(found) == 1 else None


def process_of(rank: RankView, seat: Seat) -> DriverProcess | None:
    """What the driver lists of a rank's process.

    By its pid; where the driver numbers processes as another pid namespace does, the only process of a GPU
    with a single rank is that rank's. None where neither says.
    """
    listed = _listed(seat.view)
    by_pid = next((process for process in listed if process.pid == rank.identity.process.pid), None)
    if by_pid is not None:
        return by_pid
    alone = len(listed) == 1 and len(seat.ranks) == 1 and not listed[0].here
    return listed[0] if alone else None


def strangers(seat: Seat) -> tuple[DriverProcess, ...]:
    """The processes of a GPU that belong to none of its ranks."""
    own = [process_of(rank, seat) for rank in seat.ranks]
    return tuple(process for process in _listed(seat.view) if process not in own)


def _listed(view: DriverView) -> tuple[DriverProcess, ...]:
    return () if isinstance(view.processes, NotAvailable) else view.processes
