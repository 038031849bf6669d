"""A whole scenario from the few things a person said."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.cluster import Cluster
from scaletui_engine.errors import WorldSizeError, brief
from scaletui_engine.model import Model
from scaletui_engine.plan import Axes, Offload, Plan, Recompute, Split, Strategy
from scaletui_engine.runtime import DEFAULT_RUNTIME, Lora, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.validate import problem
from scaletui_engine.validate.nearest import divisors
from scaletui_engine.validate.numbers import check_gpus

DEFAULT_SEQ: Final = 4096
"""Tokens of a sequence where the model allows so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChoices:
    """What a person said about the plan; None is what they left open."""

    tp: int = 1
    cp: int = 1
    ep: int = 1
    pp: int = 1
    dp_replicate: int | None = None
    dp_shard: int | None = None
    strategy: Strategy = Strategy.FSDP
    precision: str = "bf16-mixed"
    optimizer: str = "adamw"
    recompute: Recompute = Recompute.NONE
    offload: Offload = Offload.NONE
    reshard_after_forward: bool = True
    sequence_parallel: bool = True
    micro_batch: int = 1
    global_batch: int | None = None
    """None is one microbatch of every data-parallel rank."""
    seq: int | None = None
    """None is 4096 tokens, or the model's longest sequence where that is shorter."""
    schedule: str = "1f1b"
    chunks: int = 1
    layer_split: Split | tuple[int, ...] = Split.EVEN
    frozen: tuple[str, ...] = ()
    lora: Lora | None = None
    runtime: Runtime = DEFAULT_RUNTIME


@dataclass(frozen=True, slots=True)
class Choices(PlanChoices):
    """What a person said about everything: ids of the catalogue and a plan."""

    model: str | Model
    """An id, or a model of one's own."""
    gpu: str
    gpus: int
    gpus_per_node: int = 8


def scenario_from(choices: Choices) -> Scenario:
    """The scenario of `choices` with every default filled in; not yet validated.

    Raises UnknownNameError for a model or GPU, WorldSizeError where tp x cp x pp leaves no GPUs for dp.
    """
    model = choices.model if isinstance(choices.model, Model) else load_model(choices.model)
    cluster = Cluster(load_gpu(choices.gpu), choices.gpus, choices.gpus_per_node)
    return Scenario(model, cluster, plan_from(choices, model, cluster))


def plan_from(choices: PlanChoices, model: Model, cluster: Cluster) -> Plan:
    """The plan of `choices` on that cluster; not yet validated. Raises WorldSizeError as `scenario_from`.

    Raises ValueRangeError for a number of GPUs that cannot be.
    """
    check_gpus(cluster)
    try:
        replicate, shard = _data_parallel(choices, cluster)
    except WorldSizeError as error:
        raise WorldSizeError(error.equation, _nearest(choices, model, cluster)) from None
    axes = Axes(choices.tp, choices.cp, choices.ep, choices.pp, replicate, shard)
    kept = {field.name: getattr(choices, field.name) for field in fields(Plan) if field.name != "axes"}
    kept["seq"] = default_seq(model) if choices.seq is None else choices.seq
    if choices.global_batch is None:
        kept["global_batch"] = choices.micro_batch * axes.dp
    return Plan(axes=axes, **kept)


def default_seq(model: Model) -> int:
    """4096 tokens, or the model's own longest sequence where that is shorter."""
    return DEFAULT_SEQ if model.max_seq is None else min(DEFAULT_SEQ, model.max_seq)


def split_data_parallel(strategy: Strategy, ranks: int, per_node: int) -> tuple[int, int]:
    """(dp_replicate, dp_shard) of so many data-parallel ranks as the strategy usually lays them out.

    HSDP shards inside a node and replicates over nodes where that divides, else into two replicas.
    """
    if strategy is Strategy.DDP:
        return ranks, 1
    if strategy is not Strategy.HSDP:
        return 1, ranks
    if 0 < per_node < ranks and ranks % per_node == 0:
        return ranks // per_node, per_node
    return (2, ranks // 2) if ranks % 2 == 0 else (1, ranks)


def _data_parallel(choices: PlanChoices, cluster: Cluster) -> tuple[int, int]:
    """(dp_replicate, dp_shard): what was said, and the rest of the GPUs where the strategy wants them."""
    replicate, shard = choices.dp_replicate, choices.dp_shard
    if replicate is None and shard is None:
        return split_data_parallel(choices.strategy, _left(choices, cluster.gpus), cluster.gpus_per_node)
    if replicate is None and shard is not None:
        return (_rest(choices, cluster, shard) if choices.strategy is Strategy.HSDP else 1), shard
    if shard is None and replicate is not None:
        return replicate, (1 if choices.strategy is Strategy.DDP else _rest(choices, cluster, replicate))
    return (1 if replicate is None else replicate), (1 if shard is None else shard)


def _rest(choices: PlanChoices, cluster: Cluster, said: int) -> int:
    """What is left for the other data-parallel axis; a misfit shows in the world size."""
    return max(_left(choices, cluster.gpus) // max(said, 1), 1)


def _left(choices: PlanChoices, gpus: int) -> int:
    """GPUs left for data parallelism. Raises WorldSizeError where the model's axes do not divide them."""
    ranks = choices.tp * choices.cp * choices.pp
    if ranks < 1 or gpus < 1:
        return 1
    left, rest = divmod(gpus, ranks)
    if rest or left == 0:
        named = (("tp", choices.tp), ("cp", choices.cp), ("pp", choices.pp))
        shown = " x ".join(f"{name} {brief(degree)}" for name, degree in named if degree > 1)
        raise WorldSizeError(
            f"{shown} = {brief(ranks)}, which does not divide the cluster's {gpus} GPUs"
            if " x " in shown
            else f"{shown} does not divide the cluster's {gpus} GPUs"
        )
    return left


def _nearest(choices: PlanChoices, model: Model, cluster: Cluster) -> str | None:
    """The one axis changed as little as makes a plan that is valid; None where no one axis does."""
    degrees = {"tp": choices.tp, "pp": choices.pp, "cp": choices.cp}
    ranks = choices.tp * choices.cp * choices.pp
    found = [
        (abs(other - degree), -degree, name, other)
        for name, degree in degrees.items()
        if degree > 0 and cluster.gpus > 0 and cluster.gpus % (ranks // degree) == 0
        for other in divisors(cluster.gpus // (ranks // degree))
    ]
    for _, _, name, other in sorted(found):
        plan = plan_from(replace(choices, **{name: other}), model, cluster)  # type: ignore[arg-type]
        if problem(Scenario(model, cluster, plan)) is None:
            return f"{name} {other}"
    return None
