"""The GPU that a job runs on: one of the catalogue, by what CUDA calls it and the size its driver tells."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog import gpu_ids, load_gpu
from scaletui_engine.units import GIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.cluster import Gpu

ASSUMED_GPU: Final = "h100-sxm"
"""Where the job has no device, or one that no entry of the catalogue is as large as."""
ALIKE: Final = 0.04
"""A device is that of the catalogue whose size is this close."""
DRIVERS_DIFFER: Final = GIB // 10
"""Of one GPU's sizes under two drivers."""
_FORMS: Final = ("pcie", "nvl")
"""Words for boards that the catalogue keeps apart from those on a server's own board, which have none."""
_VENDORS: Final = ("NVIDIA", "AMD")
"""Whose devices a probe of torch's can be on: a TPU of 31.75 GiB is not a V100."""


def device_of(size: int | None, name: str = "") -> Gpu:
    """The GPU that CUDA calls so; without a name the one whose driver reports about as much, or a nameless
    one of that size where none does."""
    if not size:
        return load_gpu(ASSUMED_GPU)
    known = [load_gpu(gpu) for gpu in gpu_ids()]
    known = [gpu for gpu in known if gpu.vendor in _VENDORS and not gpu.capacity_is_nominal]
    named = _named(name, known)
    nearest = min(named or known, key=lambda gpu: abs(gpu.capacity_bytes - size))
    assumed = load_gpu(ASSUMED_GPU)
    if not named and abs(assumed.capacity_bytes - size) <= DRIVERS_DIFFER:
        nearest = assumed
    if named or abs(nearest.capacity_bytes - size) <= ALIKE * size:
        # A slice of a GPU (MIG) has its name, too, and its own size.
        return replace(nearest, usable_bytes=size, usable_source="the driver of the job's machine")
    return replace(nearest, id="device", name="device", memory_bytes=size, usable_bytes=size)


def _named(name: str, known: Sequence[Gpu]) -> list[Gpu]:
    """Those of that name: "NVIDIA A100-SXM4-80GB", "NVIDIA H100 PCIe", "NVIDIA GeForce RTX 4090"."""
    words = re.findall("[a-z0-9]+", name.lower())
    whole = "".join(words)
    found = [gpu for gpu in known if _chip(gpu) in words or (_chip(gpu)[:3] == "rtx" and _chip(gpu) in whole)]
    form = next((form for form in _FORMS if form in words), "")
    return [gpu for gpu in found if _form(gpu) == form] or found


def _chip(gpu: Gpu) -> str:
    return gpu.id.partition("-")[0]


def _form(gpu: Gpu) -> str:
    return next((form for form in _FORMS if form in gpu.id.split("-")), "")
