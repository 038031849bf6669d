"""The orders in which frameworks number ranks, as meshes.

Sources: Megatron-LM core/parallel_state.py, `RankGenerator` (leftmost token fastest, missing tokens
appended); torchtitan distributed/parallel_dims.py (row-major over pp, dp_replicate, dp_shard, cp, tp);
DeepSpeed runtime/pipe/topology.py, `PipeModelDataParallelTopology` (pipe, data, model); Llama 3,
arXiv:2407.21783, section 3.3.2 ([TP, CP, PP, DP], TP fastest).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import DivisibilityError, ParseError, UnknownNameError, WorldSizeError
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.mesh import Axis, Mesh, checked_mesh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scaletui_engine.plan import Axes


class Order(StrEnum):
    """Whose numbering of ranks."""

    MEGATRON = "megatron"
    """tp-cp-ep-dp-pp, tp fastest."""
    TORCHTITAN = "torchtitan"
    """(pp, dp_replicate, dp_shard, cp, tp), row-major: the same coordinates."""
    DEEPSPEED = "deepspeed"
    """(pipe, data, model), row-major: the same coordinates again."""
    LLAMA3 = "llama3"
    """[TP, CP, PP, DP]: pp runs inside dp."""


MEGATRON_ORDER: Final = "tp-cp-ep-dp-pp"
_TOKENS: Final = ("tp", "cp", "ep", "dp", "pp")
_DATA: Final = ("dp_replicate", "dp_shard")
_MESHES: Final = {
    Order.MEGATRON: ("pp", *_DATA, "cp", "tp"),
    Order.TORCHTITAN: ("pp", *_DATA, "cp", "tp"),
    Order.DEEPSPEED: ("pp", *_DATA, "cp", "tp"),
    Order.LLAMA3: (*_DATA, "pp", "cp", "tp"),
}
"""Axes of a plan, slowest first."""


def mesh_of(axes: Axes, order: Order = Order.MEGATRON) -> Mesh:
    """The mesh of a plan with every axis, also those of one rank, under this project's names."""
    return Mesh(tuple(Axis(name, getattr(axes, name)) for name in _MESHES[order]))


def order_of(name: str) -> Order:
    """The order of that name. Raises UnknownNameError."""
    known = {order.value: order for order in Order}
    if name not in known:
        raise UnknownNameError("order", name, known)
    return known[name]


def mesh_in_order(order: str, sizes: Mapping[str, int]) -> Mesh:
    """Megatron's mesh: "tp-cp-ep-dp-pp" names the axes from the fastest to the slowest.

    A size without a token in the order is appended; a token without a size has one rank.
    Raises ParseError for a token that is no axis or comes twice, ValueRangeError for a size below 1.
    """
    tokens = order.split("-")
    for token in tokens:
        if token not in (*_TOKENS, *sizes):
            raise ParseError(f"order {brief(order)!r}: {brief(token)!r} is no axis", MEGATRON_ORDER)
    if len(set(tokens)) < len(tokens):
        raise ParseError(f"order {brief(order)!r} names an axis twice", MEGATRON_ORDER)
    tokens += [name for name in sizes if name not in tokens]
    return checked_mesh(Mesh(tuple(Axis(token, sizes.get(token, 1)) for token in reversed(tokens))))


def expert_mesh_in_order(order: str, sizes: Mapping[str, int]) -> Mesh:
    """Megatron's second generator: etp x ep x edp in place of tp x cp x dp inside each pipeline stage.

    `sizes` are those of the dense mesh with "ep" and perhaps "etp" (tp where it is missing); the axes are
    named tp, ep, dp and pp as in Megatron, cp is gone. Raises DivisibilityError where the ranks of a stage
    are not etp x ep x a whole number.
    """
    dense = {name: sizes.get(name, 1) for name in ("tp", "cp", "dp")}
    ranks, ep = prod(dense.values()), sizes.get("ep", 1)
    etp = sizes.get("etp", dense["tp"])
    edp, rest = divmod(ranks, etp * ep)
    if rest or not edp:
        stage = " x ".join(f"{name} {size}" for name, size in dense.items())
        raise DivisibilityError(f"{stage} = {ranks}, which etp {etp} x ep {ep} does not divide")
    folded = {"tp": etp, "ep": ep, "dp": edp, "pp": sizes.get("pp", 1)}
    kept = [token for token in order.split("-") if token != "cp"]
    return mesh_in_order("-".join(kept), folded)


def deepspeed_expert_groups(world: int, mp: int, ep: int) -> tuple[list[list[int]], list[list[int]]]:
    """(expert-parallel groups, expert-data groups): experts run along the data axis of one model lane.

    Source: DeepSpeed utils/groups.py, `_get_expert_parallel_ranks`; lane by lane, in its order.
    Raises DivisibilityError where mp x ep does not divide the world.
    """
    if mp < 1 or ep < 1 or world % (mp * ep):
        raise DivisibilityError(f"world {world} / (mp {mp} x ep {ep}) is not a whole number")
    ep_groups: list[list[int]] = []
    data_groups: list[list[int]] = []
    for lane in range(mp):
        ranks = range(lane, world, mp)
        parts = [list(ranks[first : first + ep]) for first in range(0, len(ranks), ep)]
        ep_groups += parts
        data_groups += [[part[place] for part in parts] for place in range(ep)]
    return ep_groups, data_groups


def torchtitan_sparse_mesh(axes: Axes) -> Mesh:
    """torchtitan's mesh of the experts: (pp, dp_replicate, efsdp, ep), efsdp = dp_shard x cp x tp / ep."""
    return Mesh(
        (
            Axis("pp", axes.pp),
            Axis("dp_replicate", axes.dp_replicate),
            Axis("efsdp", axes.expert_dp),
            Axis("ep", axes.ep),
        )
    )


def check_product(sizes: Mapping[str, int], world: int) -> None:
    """Raises WorldSizeError unless the sizes multiply to the world; a dp_shard that would is named."""
    product = prod(sizes.values())
    if product == world and min(sizes.values(), default=1) > 0:
        return
    names, numbers = " x ".join(sizes), "*".join(map(str, sizes.values()))
    others = prod(size for name, size in sizes.items() if name != "dp_shard")
    fits = "dp_shard" in sizes and others > 0 and world % others == 0
    raise WorldSizeError(
        f"{names}: {numbers} = {product} != {world}", f"dp_shard {world // others}" if fits else None
    )


def framework_coordinate(order: Order, axes: Axes, rank: int) -> dict[str, int]:
    """A rank's coordinate under a framework's own axes, slowest first; dp is one axis but for torchtitan."""
    mesh = mesh_of(axes, order)
    places = dict(zip(mesh.names, mesh.coordinate(rank), strict=True))
    if order is Order.TORCHTITAN:
        return places
    dp = places["dp_replicate"] * axes.dp_shard + places["dp_shard"]
    if order is Order.DEEPSPEED:
        return {"pipe": places["pp"], "data": dp, "model": places["tp"]}
    return {"tp": places["tp"], "cp": places["cp"], "dp": dp, "pp": places["pp"]}


def renumbered(axes: Axes, rank: int, orders: tuple[Order, Order]) -> int:
    """The number that the second order gives to the rank that the first numbers `rank`."""
    if _MESHES[orders[0]] == _MESHES[orders[1]]:
        return rank
    return sum(rank // before % size * after for before, size, after in _moves(axes, orders))


@lru_cache(maxsize=64)
def _moves(axes: Axes, orders: tuple[Order, Order]) -> tuple[tuple[int, int, int], ...]:
    """(stride in the first order, degree, stride in the second) of every axis of more than one rank."""
    first, second = (mesh_of(axes, order) for order in orders)
    sized = (axis for axis in first.axes if axis.size > 1)
    return tuple((first.stride(axis.name), axis.size, second.stride(axis.name)) for axis in sized)
