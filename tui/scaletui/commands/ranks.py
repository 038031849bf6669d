"""`scaletui ranks`: the mesh, the groups of a rank, and which of them leave a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.scenario_options import add_scenario_options, scenario_from
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.sharding.rank_card import GroupCard, MeshCard

HELP: Final = N_("coordinates and groups of ranks, and which groups leave a node")
_ORDERS: Final = ("megatron", "torchtitan", "deepspeed", "llama3")


def add_arguments(parser: ArgumentParser) -> None:
    """SCENARIO OPTIONS, --rank, --order and --json."""
    parser.add_argument("--rank", type=int, metavar="N", default=0, help=tr("whose groups are listed (0)"))
    add_order(parser)
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    add_scenario_options(parser)


def add_order(parser: ArgumentParser) -> None:
    """Whose numbering says which ranks share a node."""
    parser.add_argument(
        "--order",
        metavar="NAME",
        default=_ORDERS[0],
        help=tr("numbering of ranks: megatron, torchtitan, deepspeed, llama3"),
    )


def run(args: Namespace) -> int:
    """Print the card of a mesh and of one of its ranks."""
    from scaletui.view.ranks_report import rank_rows
    from scaletui_engine.sharding.orders import order_of
    from scaletui_engine.sharding.rank_card import mesh_card

    order = order_of(args.order)
    scenario = scenario_from(args)
    card = mesh_card(scenario, args.rank, order)
    if args.json:
        print_json(_json(card))
    else:
        print_rows(rank_rows(card, width(), report_pen(args)))
    return 0


def _json(card: MeshCard) -> dict[str, Any]:
    return {
        "order": card.order.value,
        "world": card.world,
        "axes": dict(card.axes),
        "rank": card.rank,
        "coordinate": card.coordinate,
        "node": card.node,
        "domain": card.domain,
        "conventions": card.conventions,
        "groups": [_group(group) for group in card.groups],
    }


def _group(group: GroupCard) -> dict[str, Any]:
    return {
        "axis": group.name,
        "size": group.size,
        "groups": group.count,
        "leave_node": group.leave_node,
        "leave_domain": group.leave_domain,
        "ranks": list(group.ranks),
    }
