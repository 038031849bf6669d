"""What the memory engine says that a rank holds of the perceptron, or of a layer, in elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.buffered import buffered
from scaletui_engine.memory.census import LocalTensor, Unit, census_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.states import states_of
from scaletui_engine.model import Arch, Role
from scaletui_engine.numerics.outcome import Held
from scaletui_engine.numerics.perceptron import weights
from scaletui_engine.plan import Axes, Plan, Strategy
from scaletui_engine.runtime import Framework, Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

_FP32: Final = 4
_ZERO: Final = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
"""Cut here as DeepSpeed cuts them."""
_ARCH: Final = Arch(layers=1, hidden=1, heads=1, kv_heads=1, head_dim=1, ffn=1, vocab=1)
"""Stands where a model must: states are asked of the perceptron's own tensors."""


def memory_states(strategy: Strategy, ranks: int) -> dict[str, int]:
    """Elements of weights, gradients and Adam's moments on a rank, everything in fp32."""
    axes = Axes(dp_replicate=ranks) if strategy is Strategy.DDP else Axes(dp_shard=ranks)
    runtime = Runtime(framework=Framework.DEEPSPEED if strategy in _ZERO else Framework.AUTO)
    load = load_of(_ARCH, Plan(axes, strategy, precision="fp32", runtime=runtime))
    tensors = tuple(LocalTensor(str(index), Role.MLP, param.shape) for index, param in enumerate(weights()))
    numel = sum(tensor.numel for tensor in tensors)
    unit = Unit("perceptron", tensors, numel, numel, 0)
    held = buffered(states_of(unit, load), [(unit, 1)], load)
    return {
        "weights": held.weights // _FP32,
        "gradients": held.gradients // _FP32,
        "optimizer": held.optimizer // _FP32,
    }


def layer_weights(arch: Arch, axes: Axes) -> int:
    """Elements of a layer's weights on a rank after tensor parallelism; of its experts where it has any."""
    census = census_of(load_of(arch, Plan(axes, Strategy.DDP, precision="fp32")))
    if arch.moe is None:
        return census.dense.numel
    return sum(tensor.numel for tensor in census.moe.tensors if tensor.expert)


def held_states(
    counted: Mapping[str, int], predicted: Mapping[str, int], memory: Mapping[str, int]
) -> tuple[Held, ...]:
    """A row for each part that was counted."""
    return tuple(Held(part, counted[part], predicted[part], memory.get(part)) for part in counted)
