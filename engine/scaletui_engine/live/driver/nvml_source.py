"""The driver's view of every GPU, through NVML: one initialisation a run, one GPU a poll."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

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


class NvmlSource:
    """Asks the driver about one GPU each time it is polled, so that a slow driver still shows something.

    `update.more` says that GPUs are left in this sweep; `update.over` that no later poll can bring anything.
    """

    name = "NVML"

    def __init__(self, load: Callable[[], Any] = load_binding, proc: str = "/proc") -> None:
        self._load = load
        self._proc = proc
        self._nvml: Nvml | None = None
        self._count = 0
        self._next = 0
        self._sweeps = 0
        self._devices: dict[int, tuple[Device, ...]] = {}
        self._doubtful: set[int] = set()
        """GPUs whose MIG instances may be others by now."""
        self._views: dict[int, tuple[DriverView, ...]] = {}

    def poll(self, moment: Moment) -> SourceUpdate:
        """Read one GPU; with the first poll, initialise the driver. Raises nothing that the driver caused."""
        why = self._begin() if self._nvml is None else None
        if self._nvml is None:
            return SourceUpdate((), (), (), fault=why, over=True)
        if self._count:
            self._read(self._nvml, self._next, moment.monotonic_ns)
            self._next = (self._next + 1) % self._count
        self._sweeps += self._next == 0
        return SourceUpdate((), (), (), drivers=self._all(), fault=self._fault(), more=self._next > 0)

    def descriptors(self) -> tuple[int, ...]:
        """None: a driver has nothing to wait for."""
        return ()

    def close(self) -> None:
        """Forget the GPUs. The driver is let go with the process: a call to it may hang for ever."""
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
        """As long as some GPU has not been asked: how many have."""
        if len(self._views) == self._count:
            return None
        return NotAvailable(Lack.NOT_ASKED, f"{len(self._views)}/{self._count}")
