"""A GPU in a file: an id of the catalogue, or a table with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from scaletui_engine.catalog import gpu_ids, load_gpu
from scaletui_engine.cluster import Gpu
from scaletui_engine.errors import ParseError
from scaletui_engine.fields import read, shown, size_of, value_of
from scaletui_engine.units import exact_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class _GpuTable:
    """The keys of a GPU table; sizes are texts like "80GiB"."""

    id: str
    name: str = ""
    vendor: str = "own"
    memory: str
    usable: str | None = None
    usable_source: str | None = None
    memory_bandwidth: float
    nvlink_bandwidth: float
    nvlink_domain: int = 8
    network_bandwidth: float | None = None
    host_bandwidth: float | None = None
    link: str = ""
    source: tuple[str, ...] = ()
    note: str | None = None


def read_gpu(value: object, where: str) -> Gpu:
    """The GPU that an id or a table means. Raises UnknownNameError, ParseError."""
    if isinstance(value, str):
        return load_gpu(value)
    if not isinstance(value, dict):
        raise ParseError(f"{where} = {shown(value)} is not a GPU's id or a table")
    table = dict(cast("Mapping[str, object]", value))
    flops = _flops(table.pop("peak_flops", {}), f"{where}.peak_flops")
    own = read(_GpuTable, table, where)
    return Gpu(
        id=own.id,
        name=own.name or own.id,
        vendor=own.vendor,
        memory_bytes=size_of(own.memory, f"{where}.memory"),
        usable_bytes=None if own.usable is None else size_of(own.usable, f"{where}.usable"),
        usable_source=own.usable_source,
        peak_flops=flops,
        memory_bandwidth=own.memory_bandwidth,
        nvlink_bandwidth=own.nvlink_bandwidth,
        nvlink_domain=own.nvlink_domain,
        network_bandwidth=own.network_bandwidth,
        host_bandwidth=own.host_bandwidth,
        link=own.link,
        source=own.source,
        note=own.note,
    )


def write_gpu(gpu: Gpu) -> str | dict[str, dict[str, object]]:
    """Its id where the catalogue has it, else its tables by header."""
    if gpu.id in gpu_ids() and load_gpu(gpu.id) == gpu:
        return gpu.id
    usable = None if gpu.usable_bytes is None else exact_bytes(gpu.usable_bytes)
    sizes: dict[str, object] = {"memory": exact_bytes(gpu.memory_bytes), "usable": usable}
    plain = ("usable_source", "memory_bandwidth", "nvlink_bandwidth", "nvlink_domain", "network_bandwidth")
    more = ("host_bandwidth", "link", "source", "note")
    names = {name: getattr(gpu, name) for name in ("id", "name", "vendor")}
    rest = {name: getattr(gpu, name) for name in (*plain, *more)}
    return {"cluster.gpu": {**names, **sizes, **rest}, "cluster.gpu.peak_flops": dict(gpu.peak_flops)}


def _flops(value: object, where: str) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, dict):
        raise ParseError(f"{where} = {shown(value)} is not a table")
    table = cast("Mapping[str, object]", value)
    return tuple((dtype, value_of(float, number, f"{where}.{dtype}")) for dtype, number in table.items())
