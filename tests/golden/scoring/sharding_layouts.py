"""The engine's answers to the cases about slices and partitions."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from scaletui_engine.sharding.context import head_tail
from scaletui_engine.sharding.distributed_optimizer import BufferRule, optimizer_buffer
from scaletui_engine.sharding.experts import experts_of
from scaletui_engine.sharding.fsdp1 import flat_parameter
from scaletui_engine.sharding.fsdp2 import Fsdp2, fsdp2_param
from scaletui_engine.sharding.layout import Layout, checked_layout
from scaletui_engine.sharding.megatron_tp import FusedQkv, HeadRows, fused_qkv, vocab_split
from scaletui_engine.sharding.mesh import Axis, Mesh, checked_mesh
from scaletui_engine.sharding.pipeline_split import (
    MegatronSplit,
    balanced_split,
    layout_stages,
    torchtitan_split,
    uniform_split,
    virtual_stages,
)
from scaletui_engine.sharding.placement import parse_placement
from scaletui_engine.sharding.zero import PERSISTENT, Zero3Param, persists, zero_buffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.sharding.flat import FlatPart

Case = dict[str, Any]
MOST_RANKS = 4096


def layout_of(given: Case) -> Layout:
    """The layout of a dtensor case."""
    shape, sizes = tuple(given["global_shape"]), given["mesh_shape"]
    names = given.get("mesh_dim_names") or [f"axis{index}" for index in range(len(sizes))]
    mesh = checked_mesh(Mesh(tuple(map(Axis, names, sizes))))
    placements = tuple(parse_placement(word, len(shape)) for word in given["placements"])
    return checked_layout(Layout(shape, mesh, placements))


def dtensor_layout(case: Case, _: dict[str, Case]) -> Any:
    """Every rank, or those that are asked for where there are many."""
    layout = layout_of(case["input"])
    asked = [row["rank"] for row in case.get("expected") or []]
    ranks = range(layout.mesh.world) if layout.mesh.world <= MOST_RANKS else asked
    return [
        {
            "rank": rank,
            "coord": list(layout.mesh.coordinate(rank)),
            "local_shape": list(layout.local_shape(rank)),
            "global_offset": list(layout.offset(rank)),
            "intervals": [[list(each) for each in along] for along in layout.slices(rank)],
        }
        for rank in ranks
    ]


def fsdp2(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    mesh = given["mesh"] if "mesh" in given else [given["world"]]
    hybrid = len(mesh) == 2
    cut = Fsdp2(mesh[-1], mesh[0] if hybrid else 1, given.get("shard_dim", 0), hybrid=hybrid)
    param = fsdp2_param(tuple(given["shape"]), cut)
    return [
        {
            "rank": rank,
            "coord": list(param.real.mesh.coordinate(rank)),
            "placements": [str(each) for each in param.declared.placements],
            "local_shape": list(param.real.local_shape(rank)),
            "padded": list(param.padded_shape),
            "offset": list(param.real.offset(rank)),
        }
        for rank in range(param.real.mesh.world)
    ]


def fsdp1(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    flat = flat_parameter(
        tuple(given["numels"]),
        given["world"],
        given.get("itemsize", 4),
        use_orig_params=given.get("use_orig_params", True),
    )
    return {
        "total_with_padding": flat.buffer.length,
        "ranks": [
            {
                "rank": rank,
                "numel": flat.numel(rank),
                "pad": flat.padding(rank),
                "sharded_numel": flat.shard_numel,
                "params": [_flat_part(part) for part in flat.parts(rank)],
            }
            for rank in range(given["world"])
        ],
    }


def _flat_part(part: FlatPart) -> Case:
    return {
        "param": part.param,
        "intra_start": part.intra[0],
        "intra_end_incl": part.intra[1] - 1,
        "offset_in_shard": part.offset,
        "numel": part.numel,
    }


def zero12(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    zero = zero_buffer(tuple(given["numels"]), given["dp"], round_robin=given.get("round_robin", False))
    return {
        "order": list(zero.buffer.params),
        "padded": zero.padded,
        "partition": zero.partition,
        "ranks": [
            {
                "rank": rank,
                "range": list(zero.range(rank)),
                "padding": zero.padding(rank),
                "params": [{"param": part.param, "intra": list(part.intra)} for part in zero.parts(rank)],
            }
            for rank in range(given["dp"])
        ],
    }


def zero3(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    if "numels" in given:
        threshold = given.get("threshold", PERSISTENT)
        return {"persist": [persists(numel, threshold) for numel in given["numels"]]}
    param = Zero3Param(given["numel"], given["dp"])
    return [
        {"rank": rank, "range": list(param.range(rank)), "alloc": param.allocated, "pad": param.padding(rank)}
        for rank in range(given["dp"])
    ]


def vocab(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    split = vocab_split(given["vocab"], given["tp"], given.get("divisible_by", 128))
    return {
        "padded": split.padded,
        "per_rank": split.per_rank,
        "dummy": split.dummy,
        "ranges": [list(split.rows(rank)) for rank in range(given["tp"])],
    }


def gqa(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    qkv = fused_qkv(given["heads"], given["kv"], given["head_dim"], given["tp"])
    ranks = range(qkv.tp)
    answer: Case = {
        "fused_rows": qkv.rows,
        "rows_per_rank": qkv.rows_per_rank,
        "q_heads_per_rank": qkv.heads // qkv.tp,
        "stored": {str(rank): " ".join(_head(row, qkv) for row in qkv.stored(rank)) for rank in ranks},
        "computes": {str(rank): _work(qkv, rank) for rank in ranks},
        "extra_forward_collective": "all_gather of mixed_qkv over tp" if qkv.gathers else None,
    }
    if not qkv.gathers:
        answer["kv_heads_per_rank"] = qkv.kv // qkv.tp
    for rank in ranks:
        answer[f"q_heads_rank{rank}"] = list(qkv.computes(rank).queries)
        answer[f"kv_rank{rank}"] = list(qkv.computes(rank).groups)
    return answer


def _head(row: HeadRows, qkv: FusedQkv) -> str:
    start, stop = row.rows
    return row.head if (start, stop) == (0, qkv.head_dim) else f"{row.head}[{start}:{stop}]"


def _work(qkv: FusedQkv, rank: int) -> Case:
    work = qkv.computes(rank)
    return {"q": list(work.queries), "kv": work.groups[0] if len(work.groups) == 1 else list(work.groups)}


def distributed_optimizer(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    rule = BufferRule(
        given["dp"],
        given.get("bucket_size"),
        given.get("pad_buckets_for_high_nccl_busbw", False),
        given.get("shared_embedding") or (),
    )
    found = optimizer_buffer(tuple(given["numels"]), rule)
    spans = {
        str(param): [*found.buffer.place(param), bucket]
        for param, bucket in zip(found.buffer.params, found.bucket_of, strict=True)
    }
    shards = [(stop - start) // rule.dp for start, stop in found.buckets]
    ranks = [
        {
            "rank": rank,
            "params": [{"param": part.param, "intra": list(part.intra)} for part in found.parts(rank)],
        }
        for rank in range(rule.dp)
    ]
    buckets = [list(bucket) for bucket in found.buckets]
    shard = shards[0] if len(shards) == 1 else shards
    return {"spans": spans, "buckets": buckets, "shard": shard, "ranks": ranks}


def zigzag(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    split = head_tail(given["seq"], given["cp"])
    ranks = [[list(each) for each in split.chunks(rank)] for rank in range(given["cp"])]
    if not isinstance(case.get("expected"), dict):
        return ranks
    work = [split.causal_work(rank) for rank in range(given["cp"])]
    return {"order": list(split.order()), "ranks": ranks, "causal_work": work}


def pp_split(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    if "layout" in given:
        stages = [list(stage.layers) for stage in layout_stages(given["layout"])]
        pp = given.get("pp", len(stages))
        return {str(rank): stages[rank::pp] for rank in range(pp)}
    if "cases" in given:
        return {f"l{items}p{parts}": list(uniform_split(items, parts)) for items, parts in given["cases"]}
    if "weights" in given:
        return list(balanced_split(given["weights"], given.get("parts", given.get("pp"))))
    if "layers" not in given:
        shapes = {"loop": False, "v": True}
        return {
            name: _by_rank(virtual_stages(given["pp"], given["stages"], v_shape=v_shape))
            for name, v_shape in shapes.items()
            if not v_shape or given["stages"] == 2 * given["pp"]
        }
    return _torchtitan(given) if "stages" in given else _by_rank(megatron_split(given).stages())


def megatron_split(given: Case) -> MegatronSplit:
    """Megatron's options as a case writes them."""
    return MegatronSplit(
        given["layers"],
        given["pp"],
        given.get("vp") or 1,
        given.get("first"),
        given.get("last"),
        bool(given.get("emb")),
        bool(given.get("loss")),
    )


def _by_rank(ranks: Any) -> Case:
    return {
        str(rank): [list(each) if isinstance(each, range) else each for each in stages]
        for rank, stages in enumerate(ranks)
    }


def _torchtitan(given: Case) -> Any:
    split = torchtitan_split(given["layers"], given["stages"], (given.get("iw", 1), given.get("ow", 1)))
    stages: list[list[Any]] = [list(layers) for layers in split]
    stages[0].insert(0, "emb")
    stages[-1] += ["norm", "head"]
    return stages


def experts(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    return {str(rank): list(experts_of(given["experts"], given["ep"], rank)) for rank in range(given["ep"])}


def ddp_buckets(case: Case, _: dict[str, Case]) -> Any:
    from scaletui_engine.sharding.ddp import buckets, first_step_buckets
    from scaletui_engine.units import MIB

    sizes = case["input"]["param_mib"]
    unused = case["input"].get("find_unused_parameters", False)
    later = _sums(sizes, buckets([size * MIB for size in sizes]))
    first = first_step_buckets(len(sizes), find_unused_parameters=unused)
    return {"step0": later if first is None else _sums(sizes, first), "step1": later}


def _sums(sizes: list[float], groups: list[list[int]]) -> list[float]:
    return [list(accumulate(sizes[param] for param in group))[-1] for group in groups]


LAYOUTS: dict[str, Callable[[Case, dict[str, Case]], Any]] = {
    "dtensor_layout": dtensor_layout,
    "fsdp2_param": fsdp2,
    "fsdp1_flat": fsdp1,
    "zero12_partition": zero12,
    "zero3_partition": zero3,
    "megatron_vocab": vocab,
    "megatron_gqa": gqa,
    "megatron_distopt": distributed_optimizer,
    "cp_zigzag": zigzag,
    "pp_split": pp_split,
    "ep_placement": experts,
    "ddp_buckets": ddp_buckets,
}
