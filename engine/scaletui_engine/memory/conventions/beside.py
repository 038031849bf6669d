"""What other estimators say of a scenario, beside the budget's own states, and why they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.conventions.accelerate import training_usage
from scaletui_engine.memory.conventions.deepspeed import DeepspeedCase, zero2_needs, zero3_needs
from scaletui_engine.memory.conventions.zero import zero_bytes
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases.common import gradients, states
from scaletui_engine.memory.phases.replicated import gradients_after
from scaletui_engine.plan import Offload, Strategy
from scaletui_engine.precisions import held_precision
from scaletui_engine.tensors import count_parameters, tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario

ADAM: Final = ("adamw", "adamw-fused")
ADAM_BYTES: Final = 16
"""Bytes a parameter that all of them start from, whatever the plan's recipe."""
_STAGES: Final = {Strategy.DDP: 0, Strategy.ZERO1: 1, Strategy.ZERO2: 2}


@dataclass(frozen=True, slots=True)
class Beside:
    """One estimator's figure for a GPU."""

    tool: str
    """Message id: "tool.deepspeed_zero3"."""
    bytes: int
    ours: int
    """States of the fullest rank on its GPU: weights, gradients, optimizer, master weights."""
    reasons: tuple[str, ...]
    """Message ids of what makes the difference; empty where there is none."""


def beside(scenario: Scenario) -> tuple[Beside, ...]:
    """accelerate's and the ZeRO paper's, and DeepSpeed's for a plan that shards gradients.

    The scenario must be valid.
    """
    plan = scenario.plan
    ranks = contents_of(load_of(scenario.model.arch, plan))
    ours = max(_held(rank) for rank in ranks)
    found = [_accelerate(scenario, ours), _paper(scenario, ours)]
    if plan.strategy.shards_gradients:
        found.append(_deepspeed(scenario, ours))
    return tuple(found)


def _held(contents: Contents) -> int:
    plan = contents.load.plan
    held = gradients_after(contents) if not plan.strategy.shards_weights else (gradients(contents),)
    return sum(size for _, _, size in (*states(contents), *held))


def _row(tool: str, said: int, ours: int, reasons: tuple[str, ...]) -> Beside:
    """Padding is all that is left where nothing else makes a difference."""
    return Beside(f"tool.{tool}", said, ours, () if said == ours else reasons or ("why.padding",))


def _accelerate(scenario: Scenario, ours: int) -> Beside:
    """Source: accelerate/commands/estimate.py."""
    plan = scenario.plan
    full = held_precision(plan).compute == 4
    usage = training_usage(count_parameters(scenario.model.arch).total, "float32" if full else "float16")
    largest = () if full else ("why.largest_of_four",)
    sharded = ("why.not_sharded",) if plan.axes.world > 1 and plan.strategy.shards_optimizer else ()
    offloads = ("why.no_offload",) if plan.offload is not Offload.NONE else ()
    return _row("accelerate", usage.printed, ours, (*largest, *sharded, *offloads, *_common(plan)))


def _paper(scenario: Scenario, ours: int) -> Beside:
    """Source: ZeRO, arXiv:1910.02054, section 3.1."""
    plan = scenario.plan
    params = count_parameters(scenario.model.arch).total
    said = zero_bytes(params, plan.axes.dp, _STAGES.get(plan.strategy, 3))
    offloads = ("why.no_offload",) if plan.offload is not Offload.NONE else ()
    return _row("zero_paper", round(said), ours, (*offloads, *_common(plan)))


def _deepspeed(scenario: Scenario, ours: int) -> Beside:
    """Source: DeepSpeed runtime/zero/stage_1_and_2.py and stage3.py."""
    plan, cluster, arch = scenario.plan, scenario.cluster, scenario.model.arch
    case = DeepspeedCase(
        params=count_parameters(arch).total,
        gpus_per_node=min(cluster.gpus_per_node, cluster.gpus),
        nodes=cluster.nodes,
        offload=plan.offload,
        largest_layer=max(tensor.numel for tensor in tensors(arch)),
    )
    gradients = {Offload.NONE: ("why.fp32_gradients",), Offload.OPTIMIZER: ("why.no_gradients",)}
    reasons = (*gradients.get(plan.offload, ()), *_common(plan))
    if not plan.strategy.shards_weights:
        return _row("deepspeed_zero2", zero2_needs(case).gpu, ours, reasons)
    return _row("deepspeed_zero3", zero3_needs(case).gpu, ours, ("why.largest_layer", *reasons))


def _common(plan: Plan) -> Iterator[str]:
    """What none of them knows, where the plan has it."""
    if plan.axes.tp * plan.axes.pp * plan.axes.ep > 1:
        yield "why.model_axes"
    if plan.lora is not None or plan.frozen:
        yield "why.frozen"
    if plan.optimizer not in ADAM or held_precision(plan).adam_bytes != ADAM_BYTES:
        yield "why.recipe"
