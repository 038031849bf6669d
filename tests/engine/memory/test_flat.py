"""FSDP1's flat parameters: a unit is padded once, against the buffers of the sharding engine."""

from __future__ import annotations

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Axes, Plan, Strategy
from scaletui_engine.sharding.fsdp1 import flat_parameter
from scaletui_engine.tensors import tensors


@pytest.mark.parametrize("model", ["llama3.1-8b", "qwen2.5-0.5b", "gpt2-124m"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 48, 1000])
def test_states_are_a_shard_of_every_units_buffer(model: str, ranks: int) -> None:
    arch = load_model(model).arch
    plan = Plan(Axes(dp_shard=ranks), Strategy.FSDP1, global_batch=ranks)
    (rank,) = contents_of(load_of(arch, plan))
    layer = tuple(one.numel for one in tensors(arch) if one.layers is not None)
    root = tuple(one.numel for one in tensors(arch) if one.layers is None)
    held = arch.layers * flat_parameter(layer, ranks, 4).shard_numel
    held += flat_parameter(root, ranks, 4).shard_numel
    assert rank.states.weights == rank.states.gradients == 4 * held
    assert rank.states.optimizer == 8 * held
