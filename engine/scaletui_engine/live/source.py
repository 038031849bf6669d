"""What every source of live readings offers: rings, drivers, recordings behind one interface."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from scaletui_engine.live.discovery import Place
    from scaletui_engine.live.driver.reading import DriverView, NotAvailable
    from scaletui_engine.live.fault import RingFault
    from scaletui_engine.live.ring import RingReading
    from scaletui_engine.live.snapshot import Moment
    from scaletui_engine.live.watch import Sighting


class RingUpdate(NamedTuple):
    """What is new about one rank; there is one for every ring that could be read, new records or not."""

    reading: RingReading
    rank: Sighting
    launcher: Sighting


@dataclass(frozen=True, slots=True)
class SourceUpdate:
    """What one poll of a source brought."""

    rings: tuple[RingUpdate, ...]
    faults: tuple[RingFault, ...]
    places: tuple[Place, ...]
    drivers: tuple[DriverView, ...] = ()
    """Every GPU at its last answer, new or not."""
    fault: NotAvailable | None = None
    """Why the source has nothing, or not everything yet."""
    more: bool = False
    """Whether it has more to bring at once: ask again without waiting."""
    over: bool = False
    """Whether no later poll can bring anything."""


class LiveSource(Protocol):
    """Something that can be asked again and again; only one thread asks."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What a person calls it: "rings", "NVML"."""

    @abstractmethod
    def poll(self, moment: Moment) -> SourceUpdate:
        """Everything new since the last poll. Raises nothing: what went wrong is in the update."""

    @abstractmethod
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that become readable when something happened that is worth an early poll."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds."""
