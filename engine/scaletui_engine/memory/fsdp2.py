"""The bytes a rank's sharded states take when every parameter is known by shape: exact, padding included."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.sharding import fsdp2
from scaletui_engine.sharding.chunk import chunk_length

if TYPE_CHECKING:
    from collections.abc import Iterable

ITEM_BYTES: Final = {
    "float64": 8, "float32": 4, "bfloat16": 2, "float16": 2,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "int8": 1, "uint8": 1,
}  # fmt: skip
"""Bytes an element by torch dtype name."""
STEP_BYTES: Final = 4
"""Adam's `step` is one float32 scalar a parameter."""


@dataclass(frozen=True, slots=True)
class ParameterShape:
    """One parameter as a rank sees it before FSDP shards it: after tensor parallelism, if there is any."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    """Torch's name of the dtype: "float32", "bfloat16"."""
    trainable: bool = True


@dataclass(frozen=True, slots=True)
class Shard:
    """Which piece of each parameter a rank keeps: 1 is a replica (DDP), HSDP counts its shard group."""

    degree: int = 1
    rank: int = 0
    dim: int = 0
    """The dimension that is cut; FSDP2 cuts dim 0 unless a placement function says otherwise."""


@dataclass(frozen=True, slots=True)
class Moments:
    """What an optimizer keeps for each trainable parameter."""

    copies: int = 2
    """Tensors of the parameter's shape: two for Adam, one for momentum, none for plain SGD."""
    dtype: str | None = None
    """None follows the parameter's dtype."""
    steps: bool = True
    """Whether there is a step scalar a parameter."""
    steps_on_device: bool = False
    """True with `fused` or `capturable`; otherwise torch keeps the step on the CPU."""


@dataclass(frozen=True, slots=True)
class ShardedBytes:
    """Bytes of one rank's storages, each counted once."""

    weights: int
    gradients: int
    moments: int
    device_steps: int
    host_steps: int

    @property
    def optimizer(self) -> int:
        """Moments and every step scalar, wherever it lives."""
        return self.moments + self.device_steps + self.host_steps


def padded_numel(shape: tuple[int, ...], shard: Shard) -> int:
    """Elements of a rank's storage: FSDP2 pads every shard to the size of the first chunk.

    Source: torch/distributed/fsdp/_fully_shard/_fsdp_param.py, `_init_sharded_param` (padded_sharded_size).
    """
    return fsdp2.padded_numel(shape, shard.degree, shard.dim)


def shard_numel(shape: tuple[int, ...], shard: Shard) -> int:
    """Elements that are the rank's own: torch.chunk along `dim`, so late ranks may hold less or nothing."""
    if shard.degree == 1:
        return prod(shape)
    mine = chunk_length(shape[shard.dim], shard.degree, shard.rank)
    return prod(shape[: shard.dim]) * mine * prod(shape[shard.dim + 1 :])


def sharded_bytes(
    parameters: Iterable[ParameterShape], shard: Shard, moments: Moments | None = None
) -> ShardedBytes:
    """Weights and gradients as padded storage, moments as unpadded views, step scalars apart.

    Gradients take the parameter's dtype: FSDP2 casts the reduce-scatter output back, one buffer of padded
    pieces. Raises ValueRangeError for a rank outside the group, an unknown dtype or a scalar parameter.
    """
    _check_shard(shard)
    rule = moments or Moments()
    weights = gradients = optimizer = trained = 0
    for parameter in parameters:
        item = item_bytes(parameter.dtype)
        _check_dims(parameter, shard)
        storage = padded_numel(parameter.shape, shard) * item
        weights += storage
        if parameter.trainable:
            trained += 1
            gradients += storage
            moment = item if rule.dtype is None else item_bytes(rule.dtype)
            optimizer += rule.copies * moment * shard_numel(parameter.shape, shard)
    steps = trained * STEP_BYTES * rule.steps
    device, host = (steps, 0) if rule.steps_on_device else (0, steps)
    return ShardedBytes(weights, gradients, optimizer, device, host)


def item_bytes(dtype: str) -> int:
    """Bytes an element of a torch dtype; accepts "torch.float32" too. Raises ValueRangeError."""
    name = dtype.removeprefix("torch.")
    if name not in ITEM_BYTES:
        raise ValueRangeError(f"dtype {dtype!r} has no known size", ", ".join(ITEM_BYTES))
    return ITEM_BYTES[name]


def _check_shard(shard: Shard) -> None:
    if shard.degree < 1 or not 0 <= shard.rank < shard.degree:
        raise ValueRangeError(f"shard rank {shard.rank} is not in 0 <= rank < degree = {shard.degree}")


def _check_dims(parameter: ParameterShape, shard: Shard) -> None:
    if shard.degree > 1 and shard.dim >= len(parameter.shape):
        raise ValueRangeError(
            f"parameter {parameter.name!r} of shape {parameter.shape} has no dim {shard.dim} to shard"
        )
