"""What a driver said of each GPU or MIG instance: frozen values; what it did not say carries its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from scaletui_engine.compat import StrEnum

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import Moment


class Lack(StrEnum):
    """Why a figure, a GPU or a whole source has nothing to show."""

    NOT_ASKED = "not asked yet"
    NO_BINDING = "nvidia-ml-py is not installed"
    NO_DRIVER = "no NVIDIA driver"
    """The library or the kernel module is not there."""
    NO_PERMISSION = "no permission"
    NOT_SUPPORTED = "not supported by this GPU"
    UNIFIED = "unified memory"
    """The GPU has no memory of its own; see `DriverView.host`."""
    MIG = "not offered for MIG instances"
    LOST = "the GPU is lost"
    """It has fallen off the bus, or must be reset."""
    FAILED = "the driver failed"
    """Any other answer; `detail` has the driver's words."""
    NO_ANSWER = "no answer yet"
    """Asked and still waiting, longer than the source's deadline."""
    DIED = "stopped"
    """The source itself broke down; `detail` has why."""


@dataclass(frozen=True, slots=True)
class NotAvailable:
    """No figure, and why."""

    lack: Lack
    detail: str = ""
    """The driver's words, or an empty text."""


Figure: TypeAlias = "int | NotAvailable"


class DriverState(StrEnum):
    """How a GPU is."""

    OK = "ok"
    LOST = "lost"
    """It has fallen off the bus, must be reset, or answers nothing: `used` has the driver's words."""
    UNSUPPORTED = "unsupported"
    """It answers, but tells neither its memory nor its load."""


class Throttle(StrEnum):
    """What holds the clocks down (nvmlClocksEventReasons*); being idle, or set so by a person, is not."""

    POWER_CAP = "power cap"
    HARDWARE = "hardware slowdown"
    SYNC_BOOST = "sync boost"
    SOFTWARE_THERMAL = "software thermal slowdown"
    HARDWARE_THERMAL = "hardware thermal slowdown"
    POWER_BRAKE = "power brake"
    BOARD_LIMIT = "board limit"
    RELIABILITY = "reliability"


@dataclass(frozen=True, slots=True)
class DriverProcess:
    """A process that holds memory on a GPU."""

    pid: int
    """As the driver numbers it, which may be the host's number."""
    used: Figure
    """Bytes."""
    here: bool
    """Whether a process of that number is in the viewer's own pid namespace."""


@dataclass(frozen=True, slots=True)
class HostMemory:
    """Of the machine, in bytes (MemTotal and MemAvailable of /proc/meminfo)."""

    total: int
    available: int


@dataclass(frozen=True, slots=True)
class MigPlace:
    """Where a MIG instance lies."""

    gpu_instance: int
    compute_instance: int
    parent_uuid: str


@dataclass(frozen=True, slots=True)
class DriverView:
    """One GPU or one MIG instance at the driver's last answer."""

    uuid: str
    """As NVML writes it: "GPU-…" or "MIG-…"."""
    index: int
    """NVML's; of a MIG instance its GPU's. Never what CUDA calls a device inside a job."""
    name: str
    state: DriverState
    used: Figure
    """Bytes that the driver has given to anybody, its own reserve not counted."""
    total: Figure
    """Bytes."""
    utilization: Figure
    """Percent of the last sample period in which any kernel ran."""
    power_mw: Figure
    power_limit_mw: Figure
    temperature_c: Figure
    throttle: tuple[Throttle, ...] | NotAvailable
    ecc: Figure
    """Uncorrected errors since the driver was loaded."""
    processes: tuple[DriverProcess, ...] | NotAvailable
    read_ns: int
    """Monotonic time of the last answer that was not an error."""
    mig: MigPlace | None = None
    """None for a whole GPU."""
    host: HostMemory | None = None
    """The machine's memory, where the GPU shares it."""

    def age_s(self, moment: Moment) -> float:
        """Seconds since the driver last answered for it, never negative."""
        return max(moment.monotonic_ns - self.read_ns, 0) / 1e9


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How one source of readings is: rings, NVML, a recording."""

    name: str
    """As people call it: "rings", "NVML"."""
    read_ns: int | None
    """Monotonic time of its last whole answer; None before the first."""
    fault: NotAvailable | None = None
    """Why it has nothing new, or nothing at all; None when it is well."""

    def age_s(self, moment: Moment) -> float | None:
        """Seconds since its last whole answer, never negative; None before the first."""
        return None if self.read_ns is None else max(moment.monotonic_ns - self.read_ns, 0) / 1e9
