"""The accelerators of `gpus.json`.

A marketed "80 GB" of device memory is 80 x 2^30 bytes: torch finds 79.11 GiB (84.9e9 bytes) on an H100
(vllm-project/vllm#27508) and 178.35 GiB (191.5e9 bytes) on a B200 of "180 GB" (pytorch/ao#4002), more than
the decimal reading could hold and a little less than the binary one, of which ECC, page tables and firmware
keep a part. `usable_bytes` carries the total of `torch.cuda.mem_get_info` or the like where a source gives
it, not nvidia-smi's, which counts what the driver reserves (179.06 GiB on that B200); drivers differ by a
few tenths of a GiB, and ECC on a board of GDDR takes a sixteenth.

Without a figure: a module or chip that is two devices to its framework (MI250X, TPU v3 and v7x), and Gaudi
3, of which only a rounded one was found.

Bandwidths are for one direction. A field that its entry lists as `unchecked` has no source of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from scaletui_engine.catalog.names import Names, normal, read_data
from scaletui_engine.cluster import Gpu
from scaletui_engine.units import GIB

_ALIASES = {
    "v100": "v100-sxm2-32", "a100": "a100-sxm-80", "a100-80gb": "a100-sxm-80", "a100-40gb": "a100-sxm-40",
    "h100": "h100-sxm", "h100-80gb": "h100-sxm", "h800": "h800-sxm", "h200": "h200-sxm",
    "rtx-3090": "rtx3090", "rtx-4090": "rtx4090", "rtx-5090": "rtx5090", "rtx-a6000": "a6000",
    "mi250": "mi250x", "trainium2": "trn2", "tpu-v6": "tpu-v6e", "trillium": "tpu-v6e", "ironwood": "tpu-v7x",
}  # fmt: skip


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in read_data("gpus.json")["gpus"]}


@cache
def _names() -> Names:
    listed = {alias: key for key, entry in _entries().items() for alias in entry.get("aliases", ())}
    aliases = {normal(alias): key for alias, key in {**listed, **_ALIASES}.items()}
    return Names("GPU", tuple(_entries()), aliases)


def gpu_ids() -> tuple[str, ...]:
    """Ids of the catalogue, in its order."""
    return _names().ids


def load_gpu(name: str) -> Gpu:
    """The accelerator of that id, alias or driver name ("NVIDIA H100 80GB HBM3"). Raises UnknownNameError."""
    return _load(_names().find(name))


@cache
def _load(key: str) -> Gpu:
    entry = _entries()[key]
    usable = entry.get("usable_gib")
    return Gpu(
        id=key,
        name=entry["name"],
        vendor=entry["vendor"],
        memory_bytes=entry["memory_gib"] * GIB,
        usable_bytes=None if usable is None else round(usable * GIB),
        usable_source=entry.get("usable_source"),
        peak_flops=tuple((dtype, value * 1e12) for dtype, value in entry["peak_tflops"].items()),
        memory_bandwidth=entry["memory_gbs"] * 1e9,
        nvlink_bandwidth=entry["link_gbs"] * 1e9,
        nvlink_domain=entry["domain"],
        network_bandwidth=_bandwidth(entry, "network_gbs"),
        host_bandwidth=_bandwidth(entry, "host_gbs"),
        link=entry["link"],
        source=tuple(_spelled_out(source) for source in entry["source"]),
        note=entry.get("note"),
    )


def _bandwidth(entry: dict[str, Any], key: str) -> float | None:
    return entry[key] * 1e9 if key in entry else None


def _spelled_out(source: str) -> str:
    """A source's short name, as the head of the data file spells it."""
    known: dict[str, str] = read_data("gpus.json")["sources"]
    key, _, rest = source.partition(" ")
    return f"{known[key]} {rest}".strip() if key in known else source
