"""Single changes that would make a scenario fit, or at least need less: ranked, each with its cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.edit.set import with_value
from scaletui_engine.errors import ScenarioError
from scaletui_engine.memory.evaluation import evaluate
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.loss import kernel_of
from scaletui_engine.plan import Offload, Recompute, Strategy
from scaletui_engine.runtime import LossKernel, OptimizerLoop
from scaletui_engine.tensors import count_parameters
from scaletui_engine.validate import problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.edit.fields import Value
    from scaletui_engine.memory.budget import MemoryBudget
    from scaletui_engine.runtime import Runtime
    from scaletui_engine.scenario import Scenario

FULL_PERCENT: Final = 33
"""A second forward pass over a forward and a backward pass that costs two."""
PER_OP_PERCENT: Final = 17
"""Every other matrix product of the forward pass once more."""
CORE_PERCENT: Final = 3
"""The attention core once more (Korthikanti et al., arXiv:2205.05198, table 4: 1.6 to 4 percent)."""
TOO_LITTLE: Final = 1000
"""A change that saves less than this part of what is needed is not worth a line, unless it makes it fit."""
_HEAVY: Final = (LossKernel.UPCAST, LossKernel.UPCAST_KEPT, LossKernel.PARALLEL, LossKernel.VOCAB_PARALLEL)
"""Loss kernels that hold whole logits in fp32."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a change takes in return."""

    why: str
    """Message id."""
    percent: int | None = None
    """More compute."""
    bytes: int | None = None
    """Moved over the host's link in a step, a GPU."""
    rank: int = 0
    """Order of costs: nothing lost, little, time, hardware, another result."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One change and what it brings."""

    id: str
    """Message id: "fix.recompute_full"."""
    field: str
    """The field of the plan or cluster that it sets; "runtime" for a switch of the runtime."""
    value: str
    """What it is set to, in text; empty for a switch, which the id names."""
    scenario: Scenario
    budget: MemoryBudget
    saved_bytes: int
    """What the worst rank needs less."""
    cost: Cost

    @property
    def fits(self) -> bool:
        """Whether the change alone is enough."""
        return self.budget.fits


@dataclass(frozen=True, slots=True)
class _Change:
    id: str
    field: str
    scenario: Scenario
    cost: Cost


def fixes(scenario: Scenario) -> tuple[Fix, ...]:
    """Changes that save enough: those that make it fit first, cheapest first, then by what they save."""
    before = evaluate(scenario)
    found = [fix for change in _changes(scenario) if (fix := _tried(change, before)) is not None]
    return tuple(
        sorted(found, key=lambda fix: (not fix.fits, fix.cost.rank if fix.fits else 0, -fix.saved_bytes))
    )


def _tried(change: _Change, before: MemoryBudget) -> Fix | None:
    """The change with its budget; None where it is invalid or saves next to nothing."""
    if problem(change.scenario) is not None:
        return None
    try:
        budget = evaluate(change.scenario)
    except ScenarioError:
        return None
    needed = before.peak.needed_bytes
    saved = needed - budget.peak.needed_bytes
    matters = saved > needed // TOO_LITTLE or (budget.fits and not before.fits)
    if not matters:
        return None
    return Fix(change.id, change.field, _value(change), change.scenario, budget, saved, change.cost)


def _value(change: _Change) -> str:
    scenario = change.scenario
    for holder in (scenario.plan.axes, scenario.plan, scenario.cluster):
        if change.field != "runtime" and hasattr(holder, change.field):
            return str(getattr(holder, change.field))
    return ""


def _changes(scenario: Scenario) -> Iterator[_Change]:
    yield from _kernels(scenario)
    yield from _recompute(scenario)
    yield from _batches(scenario)
    yield from _strategies(scenario)
    yield from _axes(scenario)
    yield from _offloads(scenario)
    yield from _results(scenario)


def _kernels(scenario: Scenario) -> Iterator[_Change]:
    """What a better kernel saves for nothing, or for little."""
    plan, runtime = scenario.plan, scenario.plan.runtime
    if runtime.optimizer_loop is not OptimizerLoop.FUSED:
        fused = replace(runtime, optimizer_loop=OptimizerLoop.FUSED)
        yield _runtime(scenario, "fix.fused_optimizer", fused, Cost("cost.nothing"))
    if kernel_of(load_of(scenario.model.arch, plan)) in _HEAVY:
        for kernel in (LossKernel.CHUNKED, LossKernel.CHUNKED_HEAD):
            cost = Cost("cost.more_kernels", rank=1)
            yield _runtime(scenario, f"fix.loss_{kernel}", replace(runtime, loss=kernel), cost)
    if not runtime.compile:
        yield _runtime(
            scenario, "fix.compile", replace(runtime, compile=True), Cost("cost.compile_time", rank=1)
        )
    if plan.strategy.shards_weights and not plan.reshard_after_forward:
        cost = Cost("cost.more_gathers", rank=1)
        yield _field(scenario, "fix.reshard", "reshard_after_forward", value=True, cost=cost)


def _recompute(scenario: Scenario) -> Iterator[_Change]:
    plan = scenario.plan
    if plan.recompute is Recompute.NONE:
        percent = PER_OP_PERCENT if plan.framework.value == "torch" else CORE_PERCENT
        cost = Cost("cost.compute", percent=percent, rank=2)
        yield _field(scenario, "fix.recompute_selective", "recompute", Recompute.SELECTIVE, cost)
    if plan.recompute is not Recompute.FULL:
        cost = Cost("cost.compute", percent=FULL_PERCENT, rank=2)
        yield _field(scenario, "fix.recompute_full", "recompute", Recompute.FULL, cost)


def _batches(scenario: Scenario) -> Iterator[_Change]:
    plan = scenario.plan
    if plan.micro_batch > 1:
        half = plan.micro_batch // 2
        yield _field(scenario, "fix.micro_batch", "micro_batch", half, Cost("cost.smaller_products", rank=2))


def _strategies(scenario: Scenario) -> Iterator[_Change]:
    """The next strategies that shard more."""
    plan = scenario.plan
    order = (Strategy.DDP, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP)
    if plan.axes.dp == 1:
        return
    later = order[order.index(plan.strategy) + 1 :] if plan.strategy in order[:4] else ()
    if plan.strategy is Strategy.HSDP:
        later = (Strategy.FSDP,)
    for strategy in later:
        yield _field(
            scenario, f"fix.strategy_{strategy}", "strategy", strategy, Cost("cost.more_messages", rank=2)
        )


def _axes(scenario: Scenario) -> Iterator[_Change]:
    axes = scenario.plan.axes
    for name, cost in (
        ("tp", "cost.messages_in_layers"),
        ("cp", "cost.messages_in_attention"),
        ("pp", "cost.bubble"),
    ):
        yield _field(scenario, f"fix.{name}", name, 2 * getattr(axes, name), Cost(cost, rank=2))
    if scenario.plan.strategy.shards_optimizer:
        yield _field(scenario, "fix.gpus", "gpus", 2 * scenario.cluster.gpus, Cost("cost.gpus", rank=3))


def _offloads(scenario: Scenario) -> Iterator[_Change]:
    plan = scenario.plan
    share = -(-count_parameters(scenario.model.arch).total // max(scenario.cluster.gpus, 1))
    if plan.offload is Offload.NONE:
        cost = Cost("cost.host_link", bytes=4 * share, rank=2)
        yield _field(scenario, "fix.offload_optimizer", "offload", Offload.OPTIMIZER, cost)
    if plan.offload is not Offload.PARAMS and plan.strategy.shards_weights:
        cost = Cost("cost.host_link", bytes=8 * share, rank=2)
        yield _field(scenario, "fix.offload_params", "offload", Offload.PARAMS, cost)
    if not plan.runtime.activation_offload:
        cost = Cost("cost.host_link_in_passes", rank=2)
        runtime = replace(plan.runtime, activation_offload=True)
        yield _runtime(scenario, "fix.offload_activations", runtime, cost)


def _results(scenario: Scenario) -> Iterator[_Change]:
    """Changes after which another model is trained, or the same one otherwise."""
    plan, other = scenario.plan, Cost("cost.other_result", rank=4)
    if plan.optimizer.startswith("adamw"):
        yield _field(scenario, "fix.adam8bit", "optimizer", "adam8bit", other)
    if plan.precision in ("fp32", "bf16-mixed", "fp16-mixed"):
        yield _field(scenario, "fix.bf16_pure", "precision", "bf16-pure", other)
    if plan.seq > 1:
        yield _field(scenario, "fix.seq", "seq", plan.seq // 2, other)


def _field(scenario: Scenario, name: str, field: str, value: Value, cost: Cost) -> _Change:
    return _Change(name, field, with_value(scenario, field, value), cost)


def _runtime(scenario: Scenario, name: str, runtime: Runtime, cost: Cost) -> _Change:
    """A switch of the runtime; the field is named after what follows "runtime." in the fix's message id."""
    return _Change(name, "runtime", scenario.with_plan(replace(scenario.plan, runtime=runtime)), cost)
