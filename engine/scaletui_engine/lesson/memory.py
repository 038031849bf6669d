"""The lesson's memory calculator."""

from __future__ import annotations

from typing import TypedDict


class Gigabytes(TypedDict):
    """The calculator's figures in GB of 1e9 bytes."""

    weights_gb: float
    optimizer_gb: float
    gradients_gb: float
    activations_gb: float
    per_gpu_total_gb: float
    total_across_gpus_gb: float
    fits_on_80gb: bool


class LessonMemory(Gigabytes):
    """What the lesson's calculator returns: its figures and what they were asked for."""

    params_billions: float
    num_gpus: int
    sharding: str


_OPTIMIZER_BYTES = {"adam": 8, "sgd": 4}
_SHARDED = {
    "zero1": ("optimizer",),
    "zero2": ("optimizer", "gradients"),
    "zero3": ("optimizer", "gradients", "weights"),
    "fsdp": ("optimizer", "gradients", "weights"),
}


def memory_calculator(
    params_billions: float,
    precision_bytes: float = 2,
    optimizer: str = "adam",
    num_gpus: int = 1,
    sharding: str = "none",
    sequence_length: int = 2048,
    batch_size_per_gpu: int = 1,
    hidden_dim: int | None = None,
    num_layers: int | None = None,
) -> LessonMemory:
    """One GPU's memory by the lesson's rules.

    No master weights; 8 bytes of Adam a parameter; activations of 4 x precision_bytes a layer, token and
    channel, or half a weight a parameter without hidden_dim and num_layers, sharded by nothing.
    """
    params = params_billions * 1e9
    states = {
        "weights": params * precision_bytes,
        "optimizer": params * _OPTIMIZER_BYTES.get(optimizer, 0),
        "gradients": params * precision_bytes,
    }
    activations = params * precision_bytes * 0.5
    if hidden_dim and num_layers:
        layer = sequence_length * batch_size_per_gpu * hidden_dim * precision_bytes * 4
        activations = layer * num_layers
    for part in _SHARDED.get(sharding, ()):
        states[part] /= num_gpus
    return {
        "params_billions": params_billions,
        **_in_gb(states, activations, num_gpus),
        "num_gpus": num_gpus,
        "sharding": sharding,
    }


def _in_gb(states: dict[str, float], activations: float, num_gpus: int) -> Gigabytes:
    total = states["weights"] + states["optimizer"] + states["gradients"] + activations
    return {
        "weights_gb": states["weights"] / 1e9,
        "optimizer_gb": states["optimizer"] / 1e9,
        "gradients_gb": states["gradients"] / 1e9,
        "activations_gb": activations / 1e9,
        "per_gpu_total_gb": total / 1e9,
        "total_across_gpus_gb": total * num_gpus / 1e9,
        "fits_on_80gb": total / 1e9 <= 80,
    }
