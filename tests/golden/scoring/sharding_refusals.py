"""What the engine says to an input that must be refused; None where it takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scoring.sharding_layouts import layout_of, megatron_split

from scaletui_engine.errors import ScenarioError
from scaletui_engine.sharding.context import head_tail
from scaletui_engine.sharding.experts import experts_of
from scaletui_engine.sharding.fsdp2 import Fsdp2, fsdp2_param, unshard_groups
from scaletui_engine.sharding.megatron_tp import check_kv, check_kv_whole, fused_qkv
from scaletui_engine.sharding.orders import check_product, expert_mesh_in_order
from scaletui_engine.sharding.pipeline_split import torchtitan_split, virtual_stages

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
_AXES: Final = ("pp", "dp_replicate", "dp_shard", "dp", "cp", "tp")


def refusal_of(given: Case) -> str | None:
    """The message, or None."""
    ask = next((ask for fields, ask in _QUESTIONS if all(field in given for field in fields)), None)
    if ask is None:
        raise KeyError("of a question that is known")
    try:
        ask(given)
    except ScenarioError as error:
        return str(error)
    return None


def _kv(given: Case) -> None:
    if given.get("framework") in ("torchtitan", "hf", "torch", "transformers"):
        check_kv_whole(given["kv"], given["tp"])
    elif "heads" in given:
        fused_qkv(given["heads"], given["kv"], given.get("head_dim", 1), given["tp"])
    else:
        check_kv(given["kv"], given["tp"])


_QUESTIONS: Final[tuple[tuple[tuple[str, ...], Callable[[Case], object]], ...]] = (
    (("global_shape", "placements"), layout_of),
    (("shape", "shard_dim"), lambda g: fsdp2_param(tuple(g["shape"]), Fsdp2(g["world"], dim=g["shard_dim"]))),
    (("kv", "tp"), _kv),
    (
        ("layers", "stages"),
        lambda g: torchtitan_split(g["layers"], g["stages"], (g.get("iw", 1), g.get("ow", 1))),
    ),
    (("layers", "pp"), lambda g: megatron_split(g).stages()),
    (("stages", "pp"), lambda g: virtual_stages(g["pp"], g["stages"], v_shape=bool(g.get("v")))),
    (("experts", "ep"), lambda g: experts_of(g["experts"], g["ep"], 0)),
    (("seq", "cp"), lambda g: head_tail(g["seq"], g["cp"], g.get("tp", 1))),
    (("raf", "world"), lambda g: unshard_groups(g["world"], g["raf"])),
    (("ep", "etp"), lambda g: expert_mesh_in_order("tp-cp-ep-dp-pp", g)),
    (("world",), lambda g: check_product({name: g[name] for name in g if name in _AXES}, g["world"])),
)
"""Fields of an input, and the question that they ask."""
