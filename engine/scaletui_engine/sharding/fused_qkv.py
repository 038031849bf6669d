"""Megatron's fused queries, keys and values in a scenario: whose rows a rank stores, whose heads it computes.

With fewer key/value heads than ranks the fused rows are cut evenly all the same: a rank may store no row of
the key heads that it computes with, and no head is copied in weights, gradient buffers or optimizer states.
Source: Megatron-LM d98e8a6, core/transformer/attention.py: SelfAttention makes `linear_qkv` with
query_projection_size + 2 x kv_projection_size rows, which ColumnParallelLinear divides by tp whatever
`num_query_groups` is; `get_query_key_value_tensors` all-gathers its output where there are fewer groups than
ranks. The buffers of core/distributed/param_and_grad_buffer.py hold that parameter as each rank stores it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.chunk import chunk
from scaletui_engine.sharding.intervals import Interval, Intervals, merge
from scaletui_engine.sharding.megatron_tp import FusedQkv
from scaletui_engine.sharding.placement import Kind, Placement

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.megatron_tp import HeadRows, HeadWork

BY_ROWS: Final = (Strategy.FSDP, Strategy.HSDP)
"""Strategies that cut rows; the others cut elements of what tp leaves."""
_NAME: Final = re.compile(r"attention\.w([qkv])(?:\.bias)?")


def fused_of(load: Load) -> FusedQkv | None:
    """The fused matrix of a Megatron plan with fewer key/value heads than ranks; None for any other."""
    arch = load.arch
    found = FusedQkv(arch.heads, arch.kv_heads, arch.head_dim, load.tp)
    uneven = arch.heads % arch.kv_heads or load.tp % arch.kv_heads or found.rows % load.tp
    if not load.megatron or arch.mla is not None or not found.gathers or uneven:
        return None
    return found


@lru_cache(maxsize=256)
def fused_rows(load: Load, name: str, shards: int = 1) -> Placement | None:
    """How tp cuts wq, wk or wv where they are rows of the fused matrix; None for any other tensor or plan.

    With `shards` FSDP2 cuts what tp left of the matrix, rows of all three together: one entry for each of
    shards x tp ranks, tp fastest (core/distributed/torch_fully_sharded_data_parallel.py).
    """
    match, fused = _NAME.search(name), fused_of(load)
    if match is None or fused is None:
        return None
    ranks = ((shard, rank) for shard in range(shards) for rank in range(load.tp))
    held = tuple(_rows(fused, match[1], _window(fused, rank, (shard, shards))) for shard, rank in ranks)
    return Placement(Kind.LISTED, 0, held=held)


def _window(fused: FusedQkv, rank: int, part: tuple[int, int]) -> Interval:
    """Rows of the whole matrix that one of so many shards of a rank's rows holds."""
    first = rank * fused.rows_per_rank
    start, stop = chunk(fused.rows_per_rank, part[1], part[0])
    return first + start, first + stop


def qkv_work(scenario: Scenario, name: str, rank: int) -> tuple[tuple[HeadRows, ...], HeadWork] | None:
    """(rows that a rank stores, heads that it computes); None for a tensor or plan without the fused rows."""
    load = load_of(scenario.model.arch, scenario.plan)
    fused = fused_of(load)
    if fused is None or _NAME.search(name) is None:
        return None
    place, shards = rank % load.tp, load.shard if load.plan.strategy in BY_ROWS else 1
    window = _window(fused, place, (rank // load.tp % shards, shards))
    return fused.between(*window), fused.computes(place)


def _rows(fused: FusedQkv, kind: str, window: Interval) -> Intervals:
    mine = (each for each in fused.between(*window) if each.head.startswith(kind))
    return merge(_interval(each, fused.head_dim) for each in mine)


def _interval(rows: HeadRows, head_dim: int) -> Interval:
    start = int(rows.head[1:]) * head_dim
    return start + rows.rows[0], start + rows.rows[1]
