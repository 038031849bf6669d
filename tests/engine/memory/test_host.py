"""Host memory: offloaded states, loading a checkpoint, drives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.host import host_budget, loading_needs
from scaletui_engine.plan import Offload, Strategy
from scaletui_engine.units import GB

SEVENTY_B = Choices("llama2-70b", "h100-sxm", 8)
PARAMS_70B = 68_976_648_192


def test_without_offload_the_host_holds_nothing() -> None:
    host = host_budget(scenario_from(SEVENTY_B))
    assert (host.low, host.high, host.nvme) == (0, 0, 0)


@pytest.mark.parametrize(
    ("strategy", "offload", "bytes_a_parameter"),
    [
        pytest.param(Strategy.FSDP, Offload.PARAMS, 16, id="fsdp2-cpu-offload-policy"),
        pytest.param(Strategy.ZERO3, Offload.OPTIMIZER, 16, id="zero-offload"),
        pytest.param(Strategy.ZERO3, Offload.PARAMS, 18, id="zero-3-parameters-too"),
    ],
)
def test_what_a_job_puts_on_its_host(strategy: Strategy, offload: Offload, bytes_a_parameter: int) -> None:
    host = host_budget(scenario_from(replace(SEVENTY_B, strategy=strategy, offload=offload)))
    assert host.states.low == pytest.approx(bytes_a_parameter * PARAMS_70B, rel=1e-3)


def test_drives_take_what_memory_would_hold() -> None:
    scenario = scenario_from(replace(SEVENTY_B, strategy=Strategy.ZERO3, offload=Offload.PARAMS))
    plan = scenario.plan
    drives = replace(scenario, plan=replace(plan, runtime=replace(plan.runtime, nvme=True)))
    host, plain = host_budget(drives), host_budget(scenario)
    assert host.nvme == plain.states.low
    assert host.states.high == 0 < host.pinned


def test_every_rank_reading_the_model_needs_it_eight_times() -> None:
    """Llama-70B in fp32 on 8 ranks: 70 x 4 x 8, about 2.2 TB of host memory on one node."""
    needs = loading_needs(scenario_from(SEVENTY_B))
    assert round(needs.every_rank / GB) == 2207
    assert needs.first_rank * 8 == needs.every_rank
    assert needs.sharded == needs.first_rank


@pytest.mark.parametrize("strategy", [Strategy.ZERO2, Strategy.ZERO3])
def test_deepspeeds_gradients_leave_with_the_optimizer(strategy: Strategy) -> None:
    """From microbatch to microbatch their shards lie on the host; FSDP2's stay where they were reduced."""
    choices = replace(SEVENTY_B, strategy=strategy, offload=Offload.OPTIMIZER, global_batch=64)
    (stage,) = evaluate(scenario_from(choices)).stages
    assert (stage.parts.gradients, stage.parts.optimizer, stage.parts.master_weights) == (0, 0, 0)
    (torch,) = evaluate(scenario_from(replace(choices, strategy=Strategy.FSDP))).stages
    assert torch.parts.gradients == pytest.approx(4 * PARAMS_70B / 8, rel=1e-3)
