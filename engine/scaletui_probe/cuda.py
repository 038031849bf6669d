"""What torch.cuda tells about this process's device, asked only once the job itself has initialised CUDA.

A device index is always passed: CUDA's current device belongs to a thread, and in the sampling thread it
is 0.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from scaletui_probe.layout import Reason

_ALLOCATOR_KEYS = {
    "allocated": ("allocated_bytes", "current"),
    "reserved": ("reserved_bytes", "current"),
    "active": ("active_bytes", "current"),
    "inactive_split": ("inactive_split_bytes", "current"),
    "requested": ("requested_bytes", "current"),
    "allocated_peak": ("allocated_bytes", "peak"),
    "reserved_peak": ("reserved_bytes", "peak"),
    "active_peak": ("active_bytes", "peak"),
}


class Device(NamedTuple):
    """The accelerator of this process; index -1 and empty texts in a CPU job."""

    type: str = "cpu"
    ordinal: int = -1
    uuid: str = ""
    name: str = ""


def _cuda() -> Any:
    """`torch.cuda` when the job has initialised it, else None. Asking this initialises nothing."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda if cuda is not None and cuda.is_initialized() else None


def device() -> Device:
    """The calling thread's current device; call it from the training thread."""
    cuda = _cuda()
    if cuda is None:
        return Device()
    index = int(cuda.current_device())
    properties = cuda.get_device_properties(index)
    uuid = getattr(properties, "uuid", None)
    return Device(
        type="cuda",
        ordinal=index,
        uuid="" if uuid is None else _nvml_form(str(uuid)),
        name=str(getattr(properties, "name", "")),
    )


def _nvml_form(uuid: str) -> str:
    return uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"


def absence(stepped: bool) -> Reason:
    """Why there is no allocator to ask: a job that trains without CUDA, or one that has not used it yet."""
    version: Any = getattr(sys.modules.get("torch"), "version", None)
    built_for_it = getattr(version, "cuda", None) or getattr(version, "hip", None)
    return Reason.NOT_INITIALISED if built_for_it and not stepped else Reason.CPU_JOB


def allocator(index: int) -> dict[str, int] | None:
    """The caching allocator's numbers in bytes; None when the backend keeps none.

    From the nested dictionary of PyTorch's `memory_stats_as_nested_dict`: flattening and sorting its 123
    numbers, as `memory_stats` does, costs ten times the rest.
    """
    cuda = _cuda()
    backend = getattr(cuda, "get_allocator_backend", None)
    if backend is not None and backend() != "native":
        return None
    stats: Any = cuda.memory_stats_as_nested_dict(index)
    found = {}
    for name, (key, member) in _ALLOCATOR_KEYS.items():
        if key in stats:
            found[name] = int(stats[key]["all"][member])
    for name, key in (("alloc_retries", "num_alloc_retries"), ("ooms", "num_ooms")):
        if key in stats:
            found[name] = int(stats[key])
    return found or None


def is_capturing() -> bool:
    """Whether the calling thread is recording a CUDA graph: then a question to the driver could spoil it, and
    what is called now is called once, however often the graph runs."""
    capturing = getattr(_cuda(), "is_current_stream_capturing", None)
    return capturing is not None and bool(capturing())


def driver(index: int) -> dict[str, int]:
    """Free and total bytes of the device as the driver sees them; for the training thread, while it records
    no graph."""
    free, total = _cuda().mem_get_info(index)
    return {"driver_free": int(free), "driver_total": int(total)}
