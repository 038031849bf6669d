"""The scenario that a job runs, rebuilt from the plan it publishes, so that the engine foretells the rest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog import load_model
from scaletui_engine.cluster import Cluster
from scaletui_engine.errors import ScenarioError
from scaletui_engine.live.architecture import UnreadableError, read_architecture
from scaletui_engine.live.device import device_of
from scaletui_engine.live.outcome import Batch, Rebuilt, Unbuilt
from scaletui_engine.model import Model
from scaletui_engine.plan import Axes, Offload, Plan, Strategy
from scaletui_engine.scenario import Scenario
from scaletui_engine.validate import problem

if TYPE_CHECKING:
    from scaletui_engine.live.header import Identity
    from scaletui_engine.live.plan_document import JobPlan, PlannedParameter
    from scaletui_engine.memory.budget import StageBudget

SOURCE: Final = "the parameters of the job"
_RECIPES: Final[dict[tuple[str, str | None], str]] = {
    ("float32", None): "fp32",
    ("float32", "float32"): "fp32",
    ("float32", "bfloat16"): "bf16-mixed",
    ("float32", "float16"): "fp16-mixed",
    ("bfloat16", None): "bf16-pure",
    ("bfloat16", "bfloat16"): "bf16-pure",
}
"""(type kept, type computed in) -> recipe."""
_STEPS_ON_DEVICE: Final = ("fused", "capturable")


def rebuilt(plan: JobPlan, identity: Identity, batch: Batch, device_bytes: int | None) -> Rebuilt | Unbuilt:
    """The scenario of a job; with a batch that is not known it has one short sequence. Raises nothing."""
    if not plan.complete:
        return Unbuilt("plan cut")
    axes = axes_of(plan, identity.world_size)
    if isinstance(axes, Unbuilt):
        return axes
    try:
        read = read_architecture([(parameter.name, parameter.shape) for parameter in plan.parameters])
    except UnreadableError as error:
        has_names = any(re.search(r"[a-zA-Z]", parameter.name) for parameter in plan.parameters)
        return Unbuilt("architecture", str(error)) if has_names else Unbuilt("names")
    optimizer, precision = optimizer_of(plan), precision_of(plan)
    if optimizer is None or precision is None:
        return Unbuilt("optimizer" if optimizer is None else "precision")
    known = batch if batch.is_known else Batch(1, 128)
    job_plan = Plan(
        axes=axes, strategy=strategy_of(plan, axes), precision=precision, optimizer=optimizer,
        offload=_offload(plan), reshard_after_forward=_reshards(plan), micro_batch=known.micro_batch,
        global_batch=known.micro_batch * axes.dp, seq=known.seq,
    )  # fmt: skip
    model = load_model(read.model) if read.model else Model("job", "job", read.arch, None, SOURCE)
    cluster = Cluster(
        device_of(device_bytes, plan.device_name), identity.world_size, max(identity.local_world_size, 1)
    )
    scenario = Scenario(model, cluster, job_plan, name=identity.job_id)
    wrong = problem(scenario)
    return Unbuilt("scenario", str(wrong)) if wrong else Rebuilt(scenario, batch, read.left_over)


def foretold(found: Rebuilt) -> StageBudget | None:
    """The budget of a job's rank at its peak; None where the batch is not known or the engine has no rule."""
    if not found.batch.is_known:
        return None
    from scaletui_engine.memory import evaluate  # deferred: not needed to show a job

    try:
        return evaluate(found.scenario).peak
    except ScenarioError:
        return None


def axes_of(plan: JobPlan, world: int) -> Axes | Unbuilt:
    """FSDP's axis of a parameter's mesh is the first that cuts; replicas lie before it, TP behind."""
    shard = replicate = tp = 1
    for parameter in plan.parameters:
        found = _degrees(parameter, plan)
        shard, replicate, tp = max(shard, found[0]), max(replicate, found[1]), max(tp, found[2])
    if plan.wrapper in ("fsdp1", "deepspeed"):
        shard = max([group.shards for group in plan.groups], default=world) if plan.groups else world
        replicate = world // shard
    if plan.wrapper == "plain":
        replicate = world // tp
    if shard * replicate * tp != world:
        return Unbuilt("mesh", f"{replicate} x {shard} x {tp} != {world}")
    return Axes(tp=tp, dp_replicate=replicate, dp_shard=shard)


def _degrees(parameter: PlannedParameter, plan: JobPlan) -> tuple[int, int, int]:
    """Shards, replicas, tensor parallelism of one parameter."""
    if plan.wrapper != "fsdp2" or parameter.fsdp_group is None:
        return 1, 1, 1
    axes = list(zip(parameter.placements, parameter.mesh_shape, strict=True))
    first = next((index for index, (placement, _) in enumerate(axes) if placement != "R"), len(axes) - 1)
    before, behind = axes[:first], axes[first + 1 :]
    replicas = ways = 1
    for _, size in before:
        replicas *= size
    for _, size in behind:
        ways *= size
    return axes[first][1] if axes else 1, replicas, ways


def strategy_of(plan: JobPlan, axes: Axes) -> Strategy:
    """How the data-parallel ranks hold the states."""
    if plan.wrapper == "deepspeed":
        stage = plan.groups[0].name[4:5] if plan.groups else ""
        return {"1": Strategy.ZERO1, "2": Strategy.ZERO2}.get(stage, Strategy.ZERO3)
    if plan.wrapper == "fsdp1":
        return Strategy.FSDP1
    if plan.wrapper == "plain":
        return Strategy.DDP
    return Strategy.HSDP if axes.dp_replicate > 1 else Strategy.FSDP


def precision_of(plan: JobPlan) -> str | None:
    """The recipe that keeps and computes in the types of the matrices; None for types without one."""
    largest = max(plan.parameters, key=lambda parameter: len(parameter.shape), default=None)
    compute = next((group.param_dtype for group in plan.groups if group.param_dtype), None)
    held = None if largest is None else largest.dtype
    return None if held is None else _RECIPES.get((held, compute))


def optimizer_of(plan: JobPlan) -> str | None:
    """The optimizer by the class of the job's one; None where there are several or the engine has no rule."""
    kinds = {optimizer.name.rpartition(".")[2] for optimizer in plan.optimizers}
    arguments = [group.arguments for optimizer in plan.optimizers for group in optimizer.groups]
    if len(kinds) != 1 or not arguments:
        return None
    kind = kinds.pop()
    if kind in ("Adam", "AdamW"):
        on_device = any(arguments[0].get(name) for name in _STEPS_ON_DEVICE)
        return "adamw-fused" if on_device else "adamw"
    if kind == "SGD":
        return "momentum" if arguments[0].get("momentum") else "sgd"
    return {"AdamW8bit": "adam8bit", "AdamW4bit": "adam4bit", "Adafactor": "adafactor", "Muon": "muon"}.get(
        kind
    )


def _reshards(plan: JobPlan) -> bool:
    """Whether any unit but the root, which FSDP2 never reshards, gives its weights back."""
    inner = [group.reshard_after_forward for group in plan.groups if group.name]
    return any(inner) if inner else True


def _offload(plan: JobPlan) -> Offload:
    on_host = any(parameter.device == "cpu" for parameter in plan.parameters)
    on_device = any(parameter.device != "cpu" for parameter in plan.parameters)
    return Offload.PARAMS if on_host and on_device else Offload.NONE
