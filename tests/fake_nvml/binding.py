"""A stand-in for nvidia-ml-py: GPUs that are made up, may be lost, slow or silent, and count every call."""

from __future__ import annotations

import os
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

GIB = 1 << 30
NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND, LIBRARY_NOT_FOUND, LOST, UNKNOWN = 3, 4, 6, 12, 15, 999
_WORDS = {
    NOT_SUPPORTED: "Not Supported", NO_PERMISSION: "Insufficient Permissions", NOT_FOUND: "Not Found",
    LIBRARY_NOT_FOUND: "NVML Shared Library Not Found", LOST: "GPU is lost", UNKNOWN: "Unknown Error",
}  # fmt: skip


class NVMLError(Exception):
    """What every call raises that has no answer."""

    def __init__(self, value: int) -> None:
        super().__init__(_WORDS[value])
        self.value = value


@dataclass
class FakeGpu:
    """One GPU, or one MIG instance of one."""

    uuid: str
    name: str = "NVIDIA H100 80GB HBM3"
    used: int = 48 * GIB
    total: int = 80 * GIB
    utilization: int = 97
    power_mw: int = 612_000
    temperature_c: int = 67
    throttle: int = 0
    ecc: int = 0
    processes: dict[int, int | None] = field(default_factory=dict)
    """Pid -> bytes."""
    refused: dict[str, int] = field(default_factory=dict)
    """Call, or "*" for all of them -> the error that it raises."""
    instances: list[FakeGpu] = field(default_factory=list)
    """A GPU that has some is in MIG mode."""
    place: tuple[int, int] = (0, 0)
    """GPU instance and compute instance, of a MIG instance."""


class FakeNvml:
    """The functions of `pynvml` that scaletui calls, as attributes; `calls` counts them."""

    NVMLError = NVMLError
    nvmlMemory_v2 = 0x2000028  # noqa: N815 (the binding's own name)
    NVML_TEMPERATURE_GPU = 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0

    def __init__(self, gpus: list[FakeGpu], init_error: int | None = None) -> None:
        self.gpus = gpus
        self.init_error = init_error
        self.calls: Counter[str] = Counter()
        self.lag_s = 0.0
        self.stops = threading.Event()
        """While it is set every call waits for `goes_on`."""
        self.goes_on = threading.Event()
        self.hanging: set[str] = set()
        """UUIDs of GPUs about which every call waits for `goes_on`."""
        self.waits = threading.Event()
        """Set as soon as a call waits."""

    def __getattr__(self, name: str) -> Any:
        answer = _ANSWERS.get(name)
        if answer is None:
            raise AttributeError(name)
        return lambda *arguments: self._call(name, answer, arguments)

    def _call(self, name: str, answer: Any, arguments: tuple[Any, ...]) -> Any:
        self.calls[name] += 1
        gpu = arguments[0] if arguments and isinstance(arguments[0], FakeGpu) else None
        if self.stops.is_set() or (gpu is not None and gpu.uuid in self.hanging):
            self.waits.set()
            self.goes_on.wait()
        if self.lag_s:
            threading.Event().wait(self.lag_s)
        if gpu is not None:
            refusal = gpu.refused.get(name, gpu.refused.get("*"))
            if refusal is not None:
                raise NVMLError(refusal)
        return answer(self, *arguments)


def _init(nvml: FakeNvml) -> None:
    if nvml.init_error is not None:
        raise NVMLError(nvml.init_error)


def _instance(_: FakeNvml, gpu: FakeGpu, number: int) -> FakeGpu:
    if number >= len(gpu.instances):
        raise NVMLError(NOT_FOUND)
    return gpu.instances[number]


def _memory(_: FakeNvml, gpu: FakeGpu, version: int | None = None) -> SimpleNamespace:
    del version
    return SimpleNamespace(used=gpu.used, total=gpu.total, free=gpu.total - gpu.used)


def _processes(_: FakeNvml, gpu: FakeGpu) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in gpu.processes.items()]


_ANSWERS: dict[str, Any] = {
    "nvmlInit": _init,
    "nvmlDeviceGetCount": lambda nvml: len(nvml.gpus),
    "nvmlDeviceGetHandleByIndex": lambda nvml, index: nvml.gpus[index],
    "nvmlDeviceGetUUID": lambda _, gpu: gpu.uuid,
    "nvmlDeviceGetName": lambda _, gpu: gpu.name,
    "nvmlDeviceGetEnforcedPowerLimit": lambda *_: 700_000,
    "nvmlDeviceGetMigMode": lambda _, gpu: [int(bool(gpu.instances)), 0],
    "nvmlDeviceGetMaxMigDeviceCount": lambda *_: 7,
    "nvmlDeviceGetMigDeviceHandleByIndex": _instance,
    "nvmlDeviceGetGpuInstanceId": lambda _, gpu: gpu.place[0],
    "nvmlDeviceGetComputeInstanceId": lambda _, gpu: gpu.place[1],
    "nvmlDeviceGetMemoryInfo": _memory,
    "nvmlDeviceGetUtilizationRates": lambda _, gpu: SimpleNamespace(gpu=gpu.utilization, memory=0),
    "nvmlDeviceGetPowerUsage": lambda _, gpu: gpu.power_mw,
    "nvmlDeviceGetTemperature": lambda _, gpu, sensor: gpu.temperature_c,
    "nvmlDeviceGetCurrentClocksEventReasons": lambda _, gpu: gpu.throttle,
    "nvmlDeviceGetTotalEccErrors": lambda _, gpu, kind, counter: gpu.ecc,
    "nvmlDeviceGetComputeRunningProcesses": _processes,
}


def uuid_of(number: int, prefix: str = "GPU") -> str:
    """A UUID as NVML writes it."""
    return f"{prefix}-{number:08d}-0000-4000-8000-000000000000"


def some_gpus(count: int) -> list[FakeGpu]:
    """GPUs of one kind."""
    return [FakeGpu(uuid_of(number), used=(40 + number % 8) * GIB) for number in range(count)]


def from_environment() -> FakeNvml:
    """For a program that finds this in place of `pynvml`.

    FAKE_NVML_COUNT (8) GPUs; FAKE_NVML_LAG_S (0) a call; FAKE_NVML_GATE is a fifo that every call waits for;
    FAKE_NVML_MODE is "", "no driver", "dies", "unified" or "hang": GPU 1 does.
    """
    mode = os.environ.get("FAKE_NVML_MODE", "")
    nvml = FakeNvml(some_gpus(int(os.environ.get("FAKE_NVML_COUNT", "8"))))
    nvml.lag_s = float(os.environ.get("FAKE_NVML_LAG_S", "0"))
    nvml.init_error = LIBRARY_NOT_FOUND if mode == "no driver" else None
    if mode == "dies":
        nvml.gpus = [*nvml.gpus[:-1], None]  # type: ignore[list-item]
    if mode == "unified":
        for gpu in nvml.gpus:
            gpu.refused["nvmlDeviceGetMemoryInfo"] = NOT_SUPPORTED
    if mode == "hang":
        nvml.hanging = {nvml.gpus[1].uuid}
    if mode == "foreign":
        for gpu in nvml.gpus:
            gpu.processes = {4_000_000: 30 * GIB}
    gate = os.environ.get("FAKE_NVML_GATE")
    if gate:
        nvml.stops.set()
        threading.Thread(target=_open_gate, args=(gate, nvml.goes_on), daemon=True).start()
    return nvml


def _open_gate(gate: str, goes_on: threading.Event) -> None:
    with open(gate, "rb"):
        goes_on.set()
