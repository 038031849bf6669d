"""The engine's answers to the cases about groups, coordinates and nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from scaletui_engine.plan import Axes
from scaletui_engine.sharding.mesh import Axis, Mesh, checked_mesh
from scaletui_engine.sharding.orders import (
    MEGATRON_ORDER,
    Order,
    deepspeed_expert_groups,
    expert_mesh_in_order,
    framework_coordinate,
    mesh_in_order,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
DEGREES: Final = ("tp", "cp", "dp", "pp", "ep", "etp")
TORCHTITAN: Final = (("pp", 2), ("dp_replicate", 2), ("dp_shard", 4), ("cp", 2), ("tp", 2))
"""The mesh that cases about "the same" 64 ranks mean when they name none."""
ORDERS: Final = (MEGATRON_ORDER, "tp-cp-ep-pp-dp", "tp-cp-pp-dp")
MOST_RANKS: Final = 4096
_DEGREE = re.compile(r"\b(tp|cp|dp|pp|ep)\s?(\d+)")


def sizes_of(case: Case) -> dict[str, int]:
    """Degrees from the input, else from the words of the title: "tp4 dp2 pp2"."""
    given = case["input"]
    if isinstance(given.get("sizes"), dict):
        return dict(given["sizes"])
    named = {name: given[name] for name in DEGREES if name in given}
    return named or {name: int(size) for name, size in _DEGREE.findall(case.get("title", ""))}


def rank_groups(case: Case, known: dict[str, Case]) -> Any:
    given = case["input"]
    if isinstance(given.get("sizes"), list):
        return _levels(given["sizes"])
    if "axes" in given:
        mesh = _mesh(given["axes"], given["dims"])
        return {name: _listed(mesh, name) for name in mesh.names}
    if "mp" in given:
        ep, edp = deepspeed_expert_groups(given["world"], given["mp"], given["ep"])
        return {"ep": ep, "edp": edp}
    if "rank" in given:
        return _groups_of(given["rank"], _referred(case, known))
    return _megatron_groups(case)


def _levels(sizes: list[int]) -> Case:
    """Hierarchical groups: the first size runs fastest."""
    names = [f"level{index + 1}" for index in range(len(sizes))]
    mesh = _mesh(names[::-1], sizes[::-1])
    return {name: _listed(mesh, name) for name in names}


def _groups_of(rank: int, mesh: Mesh) -> Case:
    answer = {name: list(mesh.groups(name).of(rank)) for name in mesh.names}
    if {"dp_shard", "cp"} <= set(mesh.names):
        answer["fsdp_flattened"] = list(mesh.groups("dp_shard", "cp").of(rank))
    return answer


def _referred(case: Case, known: dict[str, Case]) -> Mesh:
    """The mesh of the input, else of the case that the title names, else the usual one of 64 ranks."""
    given = case["input"]
    if "dims" not in given:
        named = re.findall(r"\b[A-Z]\d\d\b", case.get("title", ""))
        others = (known[name]["input"] for name in named if name in known)
        given = next((other for other in others if "dims" in other), {})
    if "dims" in given:
        return _mesh(given["names"], given["dims"])
    return Mesh(tuple(Axis(*axis) for axis in TORCHTITAN))


def _megatron_groups(case: Case) -> Case:
    order, sizes = case["input"].get("order", MEGATRON_ORDER), sizes_of(case)
    dense = {name: size for name, size in sizes.items() if name not in ("ep", "etp")}
    mesh = mesh_in_order(order, dense)
    answer = {name: _listed(mesh, name) for name in ("tp", "cp", "dp", "pp")}
    for names in (("dp", "cp"), ("tp", "pp"), ("tp", "cp"), ("tp", "dp"), ("tp", "dp", "cp")):
        answer["-".join(names)] = _listed(mesh, *names)
    for key in case.get("expected") or {}:
        if "-" in key and key not in answer:
            answer[key] = _listed(mesh, *key.split("-"))
    answer["dp_correct"] = answer["dp"]
    answer["dp_if_order_ignored"] = _listed(mesh_in_order(MEGATRON_ORDER, dense), "dp")
    if "ep" in sizes or "etp" in sizes:
        experts = expert_mesh_in_order(order, sizes)
        answer |= {"ep": _listed(experts, "ep"), "edp": _listed(experts, "dp"), "etp": _listed(experts, "tp")}
    return answer


def rank_coords(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    names = given.get("names") or given.get("axes")
    if names and "dims" in given:
        mesh = _mesh(names, given["dims"])
        return (
            _every_rank(mesh)
            if "rank" not in given
            else dict(zip(mesh.names, mesh.coordinate(given["rank"]), strict=True))
        )
    if "rank" in given:
        return _conventions(case)
    mesh = mesh_in_order(given.get("order", MEGATRON_ORDER), sizes_of(case))
    return {name: list(mesh.groups(name).of(0)) for name in mesh.names}


def _every_rank(mesh: Mesh) -> Case:
    return {str(rank): list(mesh.coordinate(rank)) for rank in range(min(mesh.world, MOST_RANKS))}


def _conventions(case: Case) -> Case:
    """The coordinate under four conventions, and under the order of the case itself."""
    given, sizes = case["input"], sizes_of(case)
    axes = Axes(
        tp=sizes.get("tp", 1), cp=sizes.get("cp", 1), pp=sizes.get("pp", 1),
        dp_replicate=given.get("dp_replicate", 1), dp_shard=given.get("dp_shard", sizes.get("dp", 1)),
    )  # fmt: skip
    answer: Case = {str(order): framework_coordinate(order, axes, given["rank"]) for order in Order}
    dense = {name: size for name, size in sizes.items() if name not in ("ep", "etp")}
    mesh = mesh_in_order(given.get("order", MEGATRON_ORDER), dense)
    own = dict(zip(mesh.names, mesh.coordinate(given["rank"]), strict=True))
    return answer | own | {f"{name}_rank": place for name, place in own.items()}


def node_crossing(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    if "per_domain" in given:
        return _domains(given, case.get("expected") or {})
    sizes, per_node = sizes_of(case), given["per_node"]
    orders = [given["order"]] if "order" in given else [*ORDERS, *_orders_asked(case)]
    return {
        order: {name: mesh.groups(name).crossing(per_node) for name in mesh.names if name in sizes}
        for order in orders
        for mesh in (mesh_in_order(order, sizes),)
    }


def _orders_asked(case: Case) -> list[str]:
    return [key for key in case.get("expected") or {} if "-" in key]


def _domains(given: Case, expected: Case) -> Case:
    """Groups of the fastest axis against nodes and NVLink domains, for other degrees too where asked."""
    world, ep = given["world"], given["ep"]
    answer = {
        "ep_groups": world // ep,
        "cross_node": _fastest(world, ep, given["per_node"]),
        "cross_domain": _fastest(world, ep, given["per_domain"]),
    }
    asked = [int(match[1]) for key in expected if (match := re.fullmatch(r"cross_domain_if_ep(\d+)", key))]
    for degree in {2 * ep, *asked}:
        if world % degree == 0:
            answer[f"cross_domain_if_ep{degree}"] = _fastest(world, degree, given["per_domain"])
    return answer


def _fastest(world: int, degree: int, block: int) -> int:
    return _mesh(["others", "ep"], [world // degree, degree]).groups("ep").crossing(block)


def _mesh(names: list[str], sizes: list[int]) -> Mesh:
    return checked_mesh(Mesh(tuple(map(Axis, names, sizes))))


def _listed(mesh: Mesh, *names: str) -> list[list[int]]:
    known = [name for name in names if name in mesh.names]
    return [list(group) for group in mesh.groups(*known)]


RANKS: dict[str, Callable[[Case, dict[str, Case]], Any]] = {
    "rank_groups": rank_groups,
    "rank_coords": rank_coords,
    "node_crossing": node_crossing,
}
