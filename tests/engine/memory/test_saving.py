"""Writing a checkpoint: a full state dict on the GPU, on one rank's host, or in parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory.saving import SavingNeeds, saving_needs
from scaletui_engine.plan import Strategy
from scaletui_engine.tensors import count_parameters

EIGHT_B = Choices("llama-3-8b", "h100-sxm", 8)
PARAMS = 8_030_261_248
TABLE = 128_256 * 4096
FP32 = 4


def _needs(strategy: Strategy, **axes: int) -> SavingNeeds:
    scenario = scenario_from(replace(EIGHT_B, strategy=strategy))
    plan = scenario.plan
    shape = replace(plan.axes, **axes)
    return saving_needs(replace(scenario, plan=replace(plan, axes=shape)))


@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.FSDP1])
def test_a_full_state_dict_of_sharded_weights(strategy: Strategy) -> None:
    needs = _needs(strategy)
    assert (needs.on_gpu, needs.collected) == (FP32 * PARAMS, FP32 * PARAMS)
    assert needs.to_host == FP32 * TABLE
    assert needs.staged == pytest.approx(FP32 * PARAMS, rel=1e-6)
    assert needs.between_steps == pytest.approx(12 * PARAMS / 8, rel=1e-6)


def test_whole_weights_are_there_already() -> None:
    needs = _needs(Strategy.DDP)
    assert (needs.on_gpu, needs.to_host) == (0, 0)
    assert needs.staged == 8 * needs.collected == 8 * FP32 * PARAMS


def test_zero_3_gathers_16_bit_weights() -> None:
    assert _needs(Strategy.ZERO3).on_gpu == 2 * PARAMS


def test_a_megatron_rank_gathers_what_tp_divides() -> None:
    needs = _needs(Strategy.ZERO1, tp=2, dp_shard=4)
    assert needs.on_gpu == pytest.approx(2 * PARAMS, rel=1e-3)
    assert needs.on_gpu > _needs(Strategy.ZERO1, dp_shard=8).on_gpu == 0


def test_a_pipeline_rank_knows_its_own_stages() -> None:
    needs = _needs(Strategy.FSDP, pp=2, dp_shard=4)
    assert FP32 * PARAMS / 2 < needs.collected < FP32 * PARAMS * 0.6


def test_the_parameters_are_those_of_the_catalogue() -> None:
    arch = scenario_from(EIGHT_B).model.arch
    assert count_parameters(arch).total == PARAMS
