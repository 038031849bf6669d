"""What never changes about a GPU or a MIG instance while the driver runs: read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scaletui_engine.live.driver.reading import MigPlace, NotAvailable
from scaletui_engine.live.text import safe

if TYPE_CHECKING:
    from scaletui_engine.live.driver.binding import Nvml
    from scaletui_engine.live.driver.reading import Figure

MOST_INSTANCES: Final = 16
"""MIG instances of one GPU that are looked for; today's have 7 at most."""
UNNAMED: Final = "GPU"


@dataclass(frozen=True, slots=True)
class Known:
    """One GPU or MIG instance."""

    index: int
    handle: Any
    gpu: Any
    """The handle of the whole GPU, which has the temperature and the power of its instances."""
    uuid: str
    name: str
    power_limit_mw: Figure
    mig: MigPlace | None = None


def stranger(index: int, why: NotAvailable) -> Known:
    """A GPU that has not even told its name."""
    return Known(index, None, None, "", UNNAMED, why)


def meet(nvml: Nvml, index: int) -> tuple[Known, ...] | NotAvailable:
    """The GPU of that index, or its MIG instances where it has been cut into some."""
    handle = nvml.ask("nvmlDeviceGetHandleByIndex", index)
    if isinstance(handle, NotAvailable):
        return handle
    uuid = nvml.ask("nvmlDeviceGetUUID", handle)
    if isinstance(uuid, NotAvailable):
        return uuid
    name = nvml.ask("nvmlDeviceGetName", handle)
    limit = nvml.ask("nvmlDeviceGetEnforcedPowerLimit", handle)
    gpu = Known(
        index=index,
        handle=handle,
        gpu=handle,
        uuid=safe(uuid),
        name=UNNAMED if isinstance(name, NotAvailable) else safe(name),
        power_limit_mw=limit,
    )
    return _instances(nvml, gpu) or (gpu,)


def _instances(nvml: Nvml, gpu: Known) -> tuple[Known, ...]:
    """The MIG instances of a GPU; none where MIG is off or not known there."""
    mode = nvml.ask("nvmlDeviceGetMigMode", gpu.handle)
    if isinstance(mode, NotAvailable) or mode[0] != 1:
        return ()
    count = nvml.ask("nvmlDeviceGetMaxMigDeviceCount", gpu.handle)
    most = 0 if isinstance(count, NotAvailable) else min(count, MOST_INSTANCES)
    found = (_instance(nvml, gpu, number) for number in range(most))
    return tuple(instance for instance in found if instance is not None)


def _instance(nvml: Nvml, gpu: Known, number: int) -> Known | None:
    """One instance; None where the place is empty."""
    handle = nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", gpu.handle, number)
    if isinstance(handle, NotAvailable):
        return None
    calls = ("nvmlDeviceGetUUID", "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId")
    uuid, gpu_instance, compute_instance = (nvml.ask(call, handle) for call in calls)
    if any(isinstance(answer, NotAvailable) for answer in (uuid, gpu_instance, compute_instance)):
        return None
    name = nvml.ask("nvmlDeviceGetName", handle)
    return Known(
        index=gpu.index,
        handle=handle,
        gpu=gpu.handle,
        uuid=safe(uuid),
        name=gpu.name if isinstance(name, NotAvailable) else safe(name),
        power_limit_mw=gpu.power_limit_mw,
        mig=MigPlace(gpu_instance, compute_instance, gpu.uuid),
    )
