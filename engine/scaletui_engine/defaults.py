"""A whole scenario from the few things a person said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.cluster import Cluster
from scaletui_engine.errors import WorldSizeError
from scaletui_engine.plan import Axes, Offload, Plan, Recompute, Split, Strategy
from scaletui_engine.scenario import Scenario

if TYPE_CHECKING:
    from scaletui_engine.model import Model

DEFAULT_SEQ: Final = 4096
"""Tokens of a sequence where the model allows so many."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person said; None is what they left open."""

    model: str
    gpu: str
    gpus: int
    gpus_per_node: int = 8
    tp: int = 1
    cp: int = 1
    ep: int = 1
    pp: int = 1
    dp_replicate: int | None = None
    dp_shard: int | None = None
    strategy: Strategy = Strategy.FSDP
    precision: str = "bf16-mixed"
    optimizer: str = "adamw"
    micro_batch: int = 1
    global_batch: int | None = None
    """None is one microbatch of every data-parallel rank."""
    seq: int | None = None
    recompute: Recompute = Recompute.NONE
    offload: Offload = Offload.NONE
    schedule: str = "1f1b"
    chunks: int = 1
    layer_split: Split | tuple[int, ...] = Split.EVEN


def scenario_from(choices: Choices) -> Scenario:
    """The scenario of `choices` with every default filled in; not yet validated.

    Raises UnknownNameError for a model or GPU, WorldSizeError where tp x cp x pp leaves no GPUs for dp.
    """
    model = load_model(choices.model)
    axes = _axes(choices)
    plan = Plan(
        axes=axes,
        strategy=choices.strategy,
        precision=choices.precision,
        optimizer=choices.optimizer,
        recompute=choices.recompute,
        offload=choices.offload,
        micro_batch=choices.micro_batch,
        global_batch=choices.micro_batch * axes.dp if choices.global_batch is None else choices.global_batch,
        seq=default_seq(model) if choices.seq is None else choices.seq,
        schedule=choices.schedule,
        chunks=choices.chunks,
        layer_split=choices.layer_split,
    )
    return Scenario(model, Cluster(load_gpu(choices.gpu), choices.gpus, choices.gpus_per_node), plan)


def default_seq(model: Model) -> int:
    """4096 tokens, or the model's own longest sequence where that is shorter."""
    return DEFAULT_SEQ if model.max_seq is None else min(DEFAULT_SEQ, model.max_seq)


def _axes(choices: Choices) -> Axes:
    replicate, shard = _data_parallel(choices)
    return Axes(choices.tp, choices.cp, choices.ep, choices.pp, replicate, shard)


def _data_parallel(choices: Choices) -> tuple[int, int]:
    """(dp_replicate, dp_shard): what was said, and the rest of the GPUs where the strategy wants them."""
    replicate, shard = choices.dp_replicate, choices.dp_shard
    if replicate is not None and shard is not None:
        return replicate, shard
    model_ranks = choices.tp * choices.cp * choices.pp
    left, rest = divmod(choices.gpus, max(model_ranks, 1) * (replicate or shard or 1))
    if rest or left == 0:
        raise WorldSizeError(
            f"tp {choices.tp} x cp {choices.cp} x pp {choices.pp} = {model_ranks} "
            f"does not divide the cluster's {choices.gpus} GPUs"
        )
    if replicate is not None:
        return replicate, left
    if shard is not None:
        return left, shard
    return split_data_parallel(choices.strategy, left, choices.gpus_per_node)


def split_data_parallel(strategy: Strategy, ranks: int, per_node: int) -> tuple[int, int]:
    """(dp_replicate, dp_shard) of so many data-parallel ranks as the strategy usually lays them out.

    HSDP shards inside a node and replicates over nodes where that divides, else into two replicas.
    """
    if strategy is Strategy.DDP:
        return ranks, 1
    if strategy is not Strategy.HSDP:
        return 1, ranks
    if ranks > per_node and ranks % per_node == 0:
        return ranks // per_node, per_node
    return (2, ranks // 2) if ranks % 2 == 0 else (1, ranks)
