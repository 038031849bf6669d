"""How CUDA numbers GPUs in a job, by the rules of the CUDA programming guide (CUDA_VISIBLE_DEVICES)."""

from __future__ import annotations

from itertools import product

from fake_nvml.binding import FakeGpu, FakeNvml, some_gpus, uuid_of

GPUS = 8
GPU_BY_UUID, MIG_GPU = 3, 4
VISIBLE = ("6,5", uuid_of(GPU_BY_UUID), uuid_of(40, "MIG"), "", "-1", None)
ORDERS = ("PCI_BUS_ID", "FASTEST_FIRST")
MATRIX = tuple(product(VISIBLE, ORDERS))
"""What CUDA_VISIBLE_DEVICES is (None: not set), and CUDA_DEVICE_ORDER."""


def machine() -> FakeNvml:
    """Eight GPUs, one of which is cut into a single MIG instance."""
    gpus = some_gpus(GPUS)
    gpus[MIG_GPU].instances = [FakeGpu(uuid_of(40, "MIG"), place=(1, 0))]
    return FakeNvml(gpus)


def devices_of(visible: str | None, order: str) -> list[str]:
    """The UUIDs that CUDA numbers 0, 1, ... in a job on that machine.

    FASTEST_FIRST is taken as the reverse here: any order that is not NVML's shows who counts by it.
    """
    uuids = [uuid_of(40, "MIG") if number == MIG_GPU else uuid_of(number) for number in range(GPUS)]
    numbered = uuids if order == "PCI_BUS_ID" else list(reversed(uuids))
    if visible is None:
        return numbered
    if visible.startswith(("GPU-", "MIG-")):
        return [visible]
    found = []
    for word in visible.split(","):
        if not word or int(word) < 0:
            break
        found.append(numbered[int(word)])
    return found
