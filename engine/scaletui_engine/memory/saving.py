"""What writing a checkpoint takes beside what a rank holds between two steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases.common import states
from scaletui_engine.plan import Axes

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class SavingNeeds:
    """Bytes of the fullest pipeline rank, for the weights; to a rank the model is its own stages."""

    between_steps: int
    """Weights, master weights and optimizer on the GPU: what is there while a checkpoint is written."""
    on_gpu: int
    """A full state dict that stays on the GPU: every weight whole, on each rank."""
    to_host: int
    """The same moved to the host tensor by tensor: the largest weight whole on the GPU."""
    collected: int
    """Host memory of the one rank that keeps that full state dict."""
    staged: int
    """Host memory of a node whose ranks each copy their own part, as asynchronous checkpoints do."""


def saving_needs(scenario: Scenario) -> SavingNeeds:
    """What each form of checkpoint adds; 0 on the GPU where a rank's weights are whole already.

    Source: torch/distributed/_state_dict_utils.py, torch 2.13, `_gather_state_dict`: every DTensor is
    redistributed to `Replicate` in turn, and with `cpu_offload` copied to the host before the next.
    """
    arch, plan, cluster = scenario.model.arch, scenario.plan, scenario.cluster
    ranks = contents_of(load_of(arch, plan))
    whole = contents_of(load_of(arch, _undivided(plan)))
    divided = any(rank.states.weights < full.states.weights for rank, full in zip(ranks, whole, strict=True))
    collected = max(rank.states.weights for rank in whole)
    local = min(cluster.gpus_per_node, cluster.gpus)
    return SavingNeeds(
        between_steps=max(_between_steps(rank) for rank in ranks),
        on_gpu=collected if divided else 0,
        to_host=max(_largest(rank) for rank in whole) if divided else 0,
        collected=collected,
        staged=local * max(rank.states.weights for rank in ranks),
    )


def _undivided(plan: Plan) -> Plan:
    """The same stages with nothing sharded, under the framework that the plan resolves to."""
    return replace(
        plan,
        axes=Axes(pp=plan.axes.pp),
        global_batch=plan.micro_batch * plan.accumulation,
        runtime=replace(plan.runtime, framework=plan.framework, etp=None),
    )


def _between_steps(contents: Contents) -> int:
    return sum(size for _, _, size in states(contents))


def _largest(contents: Contents) -> int:
    """Bytes of the largest parameter; an expert is one of its own."""
    return contents.largest_tensor * contents.load.precision.weights
