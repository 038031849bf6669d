"""Asks a driver about one GPU or MIG instance again and again, and remembers what it does not support."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from scaletui_engine.live.driver.host_memory import host_memory
from scaletui_engine.live.driver.reading import (
    DriverProcess,
    DriverState,
    DriverView,
    Lack,
    NotAvailable,
    Throttle,
)

if TYPE_CHECKING:
    from scaletui_engine.live.driver.binding import Nvml
    from scaletui_engine.live.driver.known import Known
    from scaletui_engine.live.driver.reading import Figure, HostMemory

_CALLS: Final = MappingProxyType({
    "memory": (("nvmlDeviceGetMemoryInfo", "nvmlMemory_v2"), ("nvmlDeviceGetMemoryInfo",)),
    "utilization": (("nvmlDeviceGetUtilizationRates",),),
    "power": (("nvmlDeviceGetPowerUsage",),),
    "temperature": (("nvmlDeviceGetTemperature", "NVML_TEMPERATURE_GPU"),),
    "throttle": (("nvmlDeviceGetCurrentClocksEventReasons",), ("nvmlDeviceGetCurrentClocksThrottleReasons",)),
    "ecc": (("nvmlDeviceGetTotalEccErrors", "NVML_MEMORY_ERROR_TYPE_UNCORRECTED", "NVML_VOLATILE_ECC"),),
    "processes": (("nvmlDeviceGetComputeRunningProcesses",),),
})  # fmt: skip
"""Figure -> the calls that tell it and the constants they take, the newest first."""
_OF_THE_INSTANCE: Final = ("memory", "processes")
"""What a MIG instance has of its own; the rest is its GPU's."""
_SELDOM: Final = MappingProxyType({"ecc": 30})
"""Figure -> reads between two calls of it; others are asked for every time."""
_THROTTLES: Final = MappingProxyType({
    0x4: Throttle.POWER_CAP, 0x8: Throttle.HARDWARE, 0x10: Throttle.SYNC_BOOST,
    0x20: Throttle.SOFTWARE_THERMAL, 0x40: Throttle.HARDWARE_THERMAL, 0x80: Throttle.POWER_BRAKE,
    0x200: Throttle.BOARD_LIMIT, 0x400: Throttle.RELIABILITY,
})  # fmt: skip
"""nvmlClocksEventReasons* of nvml.h; 1 is idle, 2 and 0x100 were set by a person or a display."""
_FOR_GOOD: Final = (Lack.NOT_SUPPORTED, Lack.NO_PERMISSION)
_LOSSES: Final = MappingProxyType({"memory": (Lack.LOST, Lack.FAILED)})
"""Figure -> answers that mean that there is no use in asking this GPU more now; for others LOST."""


class Device:
    """One GPU or MIG instance. Not for more than one thread."""

    def __init__(self, nvml: Nvml, known: Known, proc: str = "/proc") -> None:
        self.known = known
        self._nvml = nvml
        self._proc = proc
        self._host = host_memory(proc)
        self._kept: dict[str, Any] = {}
        """Answers that stay, or are asked for seldom."""
        self._reads = 0
        self._answered_ns: int | None = None

    def read(self, now_ns: int) -> DriverView:
        """Ask once. A lost GPU is asked one question, and none of its old figures is shown."""
        answers: dict[str, Any] = {}
        for figure in _CALLS:
            answers[figure] = answer = self._ask(figure)
            if isinstance(answer, NotAvailable) and answer.lack in _LOSSES.get(figure, (Lack.LOST,)):
                return self.gone(answer, now_ns)
        self._reads += 1
        self._answered_ns = now_ns
        return self._view(answers, now_ns)

    def gone(self, why: NotAvailable, now_ns: int) -> DriverView:
        """It does not answer: what is known of it, and since when."""
        return unanswered(self.known, why, now_ns if self._answered_ns is None else self._answered_ns)

    def _view(self, answers: dict[str, Any], now_ns: int) -> DriverView:
        known = self.known
        used, total = _memory(answers["memory"], self._host)
        utilization = _utilization(answers["utilization"], known)
        is_silent = not isinstance(used, int) and not isinstance(utilization, int)
        shares = isinstance(used, NotAvailable) and used.lack is Lack.UNIFIED
        return DriverView(
            uuid=known.uuid,
            index=known.index,
            name=known.name,
            state=DriverState.UNSUPPORTED if is_silent else DriverState.OK,
            used=used,
            total=total,
            utilization=utilization,
            power_mw=answers["power"],
            power_limit_mw=known.power_limit_mw,
            temperature_c=answers["temperature"],
            throttle=_throttle(answers["throttle"]),
            ecc=answers["ecc"],
            processes=self._processes(answers["processes"]),
            read_ns=now_ns,
            mig=known.mig,
            host=host_memory(self._proc) if shares else None,
        )

    def _ask(self, figure: str) -> Any:
        """The answer of the first call that works here; what stays or is seldom asked comes from before."""
        every = _SELDOM.get(figure)
        if figure in self._kept and (every is None or self._reads % every):
            return self._kept[figure]
        owner = self.known.handle if figure in _OF_THE_INSTANCE else self.known.gpu
        answer = self._nvml.ask_first(_CALLS[figure], owner)
        stays = isinstance(answer, NotAvailable) and answer.lack in _FOR_GOOD
        if stays or every is not None:
            self._kept[figure] = answer
        return answer

    def _processes(self, found: Any) -> tuple[DriverProcess, ...] | NotAvailable:
        if isinstance(found, NotAvailable):
            return found
        return tuple(self._process(process) for process in found)

    def _process(self, process: Any) -> DriverProcess:
        used = process.usedGpuMemory
        return DriverProcess(
            pid=int(process.pid),
            used=NotAvailable(Lack.NOT_SUPPORTED) if used is None else int(used),
            here=os.path.isdir(f"{self._proc}/{process.pid}"),
        )


def unanswered(known: Known, why: NotAvailable, read_ns: int) -> DriverView:
    """A GPU that does not answer."""
    return DriverView(
        uuid=known.uuid,
        index=known.index,
        name=known.name,
        state=DriverState.LOST,
        used=why,
        total=why,
        utilization=why,
        power_mw=why,
        power_limit_mw=known.power_limit_mw,
        temperature_c=why,
        throttle=why,
        ecc=why,
        processes=why,
        read_ns=read_ns,
        mig=known.mig,
    )


def _memory(answer: Any, host: HostMemory | None) -> tuple[Figure, Figure]:
    """Used and total. Without memory of its own a GPU says so, nothing at all, or the machine's total."""
    if isinstance(answer, NotAvailable):
        if answer.lack is not Lack.NOT_SUPPORTED:
            return answer, answer
        unified = NotAvailable(Lack.UNIFIED, answer.detail)
        return unified, unified
    if not answer.total or (host is not None and answer.total == host.total):
        unified = NotAvailable(Lack.UNIFIED)
        return unified, unified
    return int(answer.used), int(answer.total)


def _utilization(answer: Any, known: Known) -> Figure:
    if known.mig is not None:
        return NotAvailable(Lack.MIG)
    return answer if isinstance(answer, NotAvailable) else int(answer.gpu)


def _throttle(answer: Any) -> tuple[Throttle, ...] | NotAvailable:
    if isinstance(answer, NotAvailable):
        return answer
    return tuple(reason for bit, reason in _THROTTLES.items() if answer & bit)
