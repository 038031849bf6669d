"""The driver's view of every GPU, through NVML: one initialisation a run, one GPU a poll.

A driver may answer for one GPU and hang in a call about another. Who waits how long for an answer is up to a
`Patience`; while one GPU has not answered, it keeps its last figures with their age, and the others go on.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, Protocol

from scaletui_engine.live.driver.binding import Nvml, load_binding
from scaletui_engine.live.driver.device import Device, unanswered
from scaletui_engine.live.driver.known import meet, stranger
from scaletui_engine.live.driver.reading import DriverState, Lack, NotAvailable
from scaletui_engine.live.source import SourceUpdate

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.driver.reading import DriverView
    from scaletui_engine.live.snapshot import Moment

MET_AGAIN: Final = 60
"""Sweeps after which a GPU that was cut into MIG instances is looked at anew: they come and go."""


class Patience(Protocol):
    """Has questions answered, and knows how long to wait."""

    @abstractmethod
    def ask(self, index: int, question: Callable[[], None]) -> bool:
        """Whether the question about that GPU has been answered; False while one about it still waits.

        Raises what the question raises."""

    @abstractmethod
    def close(self) -> None:
        """Ask no more."""


class Endless:
    """Waits for every answer."""

    def ask(self, index: int, question: Callable[[], None]) -> bool:
        """Answered, whichever GPU it is about."""
        del index
        question()
        return True

    def close(self) -> None:
        """Nothing is kept."""


class NvmlSource:
    """Asks the driver about one GPU each time it is polled, so that a slow driver still shows something.

    `update.more` says that GPUs are left in this sweep; `update.over` that no later poll can bring anything.
    """

    name = "NVML"

    def __init__(
        self,
        load: Callable[[], Any] = load_binding,
        proc: str = "/proc",
        patience: Patience | None = None,
    ) -> None:
        self._load = load
        self._patience = patience or Endless()
        self._proc = proc
        self._nvml: Nvml | None = None
        self._count = 0
        self._next = 0
        self._sweeps = 0
        self._devices: dict[int, tuple[Device, ...]] = {}
        self._doubtful: set[int] = set()
        """GPUs whose MIG instances may be others by now."""
        self._views: dict[int, tuple[DriverView, ...]] = {}
        self._late: set[int] = set()
        """GPUs that have not answered the last question."""

    def poll(self, moment: Moment) -> SourceUpdate:
        """Read one GPU; with the first poll, initialise the driver. Raises nothing that the driver caused."""
        why = self._begin() if self._nvml is None else None
        if self._nvml is None:
            return SourceUpdate((), (), (), fault=why, over=True)
        if self._count:
            self._ask(self._nvml, self._next, moment.monotonic_ns)
            self._next = (self._next + 1) % self._count
        self._sweeps += self._next == 0
        return SourceUpdate((), (), (), drivers=self._all(), fault=self._fault(), more=self._next > 0)

    def descriptors(self) -> tuple[int, ...]:
        """None: a driver has nothing to wait for."""
        return ()

    def close(self) -> None:
        """Forget the GPUs. The driver is let go with the process: a call to it may hang for ever."""
        self._patience.close()
        self._devices.clear()

    def _begin(self) -> NotAvailable | None:
        """Initialise the driver; why it cannot be asked, where it cannot."""
        try:
            nvml = Nvml(self._load())
        except ImportError:
            return NotAvailable(Lack.NO_BINDING)
        begun = nvml.ask("nvmlInit")
        if isinstance(begun, NotAvailable):
            return begun
        count = nvml.ask("nvmlDeviceGetCount")
        if isinstance(count, NotAvailable):
            return count
        self._nvml, self._count = nvml, count
        return None

    def _ask(self, nvml: Nvml, index: int, now_ns: int) -> None:
        if self._patience.ask(index, lambda: self._read(nvml, index, now_ns)):
            self._late.discard(index)
            return
        self._late.add(index)
        why = NotAvailable(Lack.NO_ANSWER)
        self._views.setdefault(index, (unanswered(stranger(index, why), why, now_ns),))

    def _read(self, nvml: Nvml, index: int, now_ns: int) -> None:
        if index not in self._devices or index in self._doubtful or self._is_due(index):
            met = meet(nvml, index)
            if isinstance(met, NotAvailable):
                self._views[index] = self._gone(index, met, now_ns)
                return
            self._devices[index] = tuple(Device(nvml, known, self._proc) for known in met)
            self._doubtful.discard(index)
        self._views[index] = tuple(device.read(now_ns) for device in self._devices[index])
        if any(view.mig and view.state is DriverState.LOST for view in self._views[index]):
            self._doubtful.add(index)

    def _is_due(self, index: int) -> bool:
        """Whether a GPU that was cut into MIG instances has to be met again."""
        is_cut = any(device.known.mig for device in self._devices[index])
        return is_cut and self._sweeps % MET_AGAIN == MET_AGAIN - 1

    def _gone(self, index: int, why: NotAvailable, now_ns: int) -> tuple[DriverView, ...]:
        known = tuple(device.gone(why, now_ns) for device in self._devices.get(index, ()))
        return known or (unanswered(stranger(index, why), why, now_ns),)

    def _all(self) -> tuple[DriverView, ...]:
        return tuple(view for index in sorted(self._views) for view in self._views[index])

    def _fault(self) -> NotAvailable | None:
        """As long as some GPU has not been asked: how many have; and whether none answers."""
        if self._count and len(self._late) == self._count:
            return NotAvailable(Lack.NO_ANSWER)
        if len(self._views) == self._count:
            return None
        return NotAvailable(Lack.NOT_ASKED, f"{len(self._views)}/{self._count}")
