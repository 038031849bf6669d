"""Every number is a whole number of a sensible size; zero, negative, fractional and huge ones are not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ValueRangeError, brief
from scaletui_engine.validate.nearest import nearest_divisor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.cluster import Cluster
    from scaletui_engine.model import Arch, Model, Moe
    from scaletui_engine.scenario import Scenario

_WIDTH: Final = 1 << 24
_LIMITS: Final = {
    "layers": 10_000, "hidden": _WIDTH, "heads": 1 << 16, "kv_heads": 1 << 16, "head_dim": 1 << 16,
    "ffn": _WIDTH, "vocab": 1 << 28, "experts": 1 << 16, "topk": 1 << 16, "every": 10_000,
    "gpus": 10_000_000, "gpus_per_node": 1 << 20, "nvlink_domain": 1 << 20, "micro_batch": 1 << 20,
    "global_batch": 1 << 32, "seq": 1 << 32, "chunks": 10_000,
}  # fmt: skip
"""Largest value of each field: beyond it is a slip of the finger, not a training job."""
_BYTES: Final = 1 << 60
_AXES: Final = ("tp", "cp", "ep", "pp", "dp_replicate", "dp_shard")
_ARCH: Final = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab")
_PLAN: Final = ("micro_batch", "global_batch", "seq", "chunks")
_TOKENS: Final = ("learned_pos", "sliding_window", "chunk_attn_window", "nope_every")
"""Numbers that an architecture may leave out."""


def check_numbers(scenario: Scenario) -> None:
    """Raises ValueRangeError."""
    check_model(scenario.model)
    _check_cluster(scenario.cluster)
    for name, value in _of_cluster_and_plan(scenario):
        check_number(name, value, _LIMITS.get(name, 10_000_000))


def check_model(model: Model) -> None:
    """Its architecture, and the longest sequence that it was made for. Raises ValueRangeError."""
    check_arch(model.arch)
    if model.max_seq is not None:
        check_number("model.max_seq", model.max_seq, _LIMITS["seq"])


def check_gpus(cluster: Cluster) -> None:
    """How many there are, before anything is divided by it. Raises ValueRangeError."""
    check_number("gpus", cluster.gpus, _LIMITS["gpus"])


def check_arch(arch: Arch) -> None:
    """The numbers of a model alone. Raises ValueRangeError."""
    for name in _ARCH:
        check_number(f"model.{name}", getattr(arch, name), _LIMITS[name])
    if arch.norms_per_layer not in (1, 2, 4):
        raise ValueRangeError(f"model.norms_per_layer {brief(arch.norms_per_layer)} is not 1, 2 or 4")
    if arch.heads % arch.kv_heads:
        raise ValueRangeError(f"model.heads {arch.heads} / kv_heads {arch.kv_heads} is not a whole number")
    _check_positions(arch)
    for name, value, least in _of_parts(arch):
        check_number(name, value, _WIDTH, least)
    if arch.moe is not None:
        _check_expert_layers(arch.moe, arch.layers)
        _check_routing(arch.moe)


def _check_positions(arch: Arch) -> None:
    """What attention looks back over, and how it counts."""
    for name in _TOKENS:
        value: object = getattr(arch, name)
        if value is not None:
            check_number(f"model.{name}", value, _LIMITS["seq"])
    check_number("model.sliding_layers", arch.sliding_layers, arch.layers, least=0)
    if arch.rope_theta is not None and not _is_positive(arch.rope_theta):
        raise ValueRangeError(f"model.rope_theta = {brief(arch.rope_theta)} is not a positive number")


def largest(field: str) -> int:
    """The largest value of a field of a model that means anything."""
    return _LIMITS.get(field, _WIDTH)


def check_number(name: str, value: object, most: int, least: int = 1) -> None:
    """Raises ValueRangeError unless `value` is a whole number from `least` to `most`."""
    if type(value) is not int:
        raise ValueRangeError(f"{name} = {brief(value)} is not a whole number")
    if value < least:
        raise ValueRangeError(f"{name} = {brief(value)} < {least}", f"{name} {least}")
    if value > most:
        raise ValueRangeError(f"{name} = {brief(value)} > {most}", f"{name} {most}")


def _check_cluster(cluster: Cluster) -> None:
    gpu = cluster.gpu
    check_number("gpu.memory_bytes", gpu.memory_bytes, _BYTES)
    check_number("gpu.nvlink_domain", gpu.nvlink_domain, 1 << 20)
    for name, size in (
        ("gpu.usable_bytes", gpu.usable_bytes),
        ("host_memory_bytes", cluster.host_memory_bytes),
    ):
        if size is not None:
            check_number(name, size, _BYTES)
    for name in ("memory_bandwidth", "nvlink_bandwidth", "network_bandwidth", "host_bandwidth"):
        bandwidth = getattr(gpu, name)
        if bandwidth is not None and not _is_positive(bandwidth):
            said = brief(bandwidth)
            raise ValueRangeError(f"gpu.{name} = {said} is not a positive number of bytes a second")
    for dtype, flops in gpu.peak_flops:
        if not _is_positive(flops):
            raise ValueRangeError(f"gpu.peak_flops.{dtype} = {brief(flops)} is not a positive number")


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _of_parts(arch: Arch) -> Iterator[tuple[str, object, int]]:
    if arch.moe is not None:
        for name in ("experts", "topk", "ffn", "every"):
            yield f"model.moe.{name}", getattr(arch.moe, name), 1
        for name in ("shared", "shared_ffn", "first_dense"):
            yield f"model.moe.{name}", getattr(arch.moe, name), 0
        for name in ("groups", "topk_groups"):
            if getattr(arch.moe, name) is not None:
                yield f"model.moe.{name}", getattr(arch.moe, name), 1
    if arch.mla is not None:
        for name in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
            yield f"model.mla.{name}", getattr(arch.mla, name), 1
        yield "model.mla.q_lora_rank", arch.mla.q_lora_rank, 0


def _check_expert_layers(moe: Moe, layers: int) -> None:
    if moe.topk > moe.experts:
        raise ValueRangeError(f"topk {moe.topk} > {moe.experts} experts", f"topk {moe.experts}")
    if moe.shared and not moe.shared_ffn:
        raise ValueRangeError(f"{moe.shared} shared experts with shared_ffn 0")
    if moe.first_dense + moe.every > layers:
        raise ValueRangeError(
            f"first_dense {moe.first_dense} + every {moe.every} > {layers} layers: no layer has experts"
        )


def _check_routing(moe: Moe) -> None:
    """Groups deal the experts out evenly, and a token reaches no more of them than there are."""
    if moe.groups is not None and moe.experts % moe.groups:
        raise ValueRangeError(
            f"model.moe.experts {moe.experts} / groups {moe.groups} is not a whole number",
            f"model.moe.groups {nearest_divisor(moe.experts, moe.groups)}",
        )
    if moe.topk_groups is not None:
        check_number("model.moe.topk_groups", moe.topk_groups, moe.groups or 1)


def _of_cluster_and_plan(scenario: Scenario) -> Iterator[tuple[str, object]]:
    cluster, plan = scenario.cluster, scenario.plan
    yield "gpus", cluster.gpus
    yield "gpus_per_node", cluster.gpus_per_node
    if cluster.nvlink_domain is not None:
        yield "nvlink_domain", cluster.nvlink_domain
    yield from ((name, getattr(plan.axes, name)) for name in _AXES)
    yield from ((name, getattr(plan, name)) for name in _PLAN)
