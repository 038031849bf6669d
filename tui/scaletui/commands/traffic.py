"""`scaletui traffic`: every collective of a step, as papers count it and as a framework sends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.ranks import add_order
from scaletui.commands.scenario_options import add_scenario_options, scenario_from
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.sharding.traffic.table import TrafficRow

HELP: Final = N_("every collective of a step: group, count, payload, bytes sent, link, time")


def add_arguments(parser: ArgumentParser) -> None:
    """SCENARIO OPTIONS, --stage, --order and --json."""
    parser.add_argument("--stage", type=int, metavar="P", help=tr("pipeline rank (the heaviest one)"))
    add_order(parser)
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    add_scenario_options(parser)


def run(args: Namespace) -> int:
    """Print both columns."""
    from scaletui.view.traffic_report import traffic_rows
    from scaletui_engine.sharding.notes import mesh_notes
    from scaletui_engine.sharding.orders import order_of
    from scaletui_engine.sharding.traffic.table import traffic

    order = order_of(args.order)
    scenario = scenario_from(args)
    found = traffic(scenario, args.stage, order)
    if args.json:
        print_json(
            {
                "model": scenario.model.id,
                "stage": found.stage_rank,
                "order": order.value,
                "framework": found.framework,
                "notes": list(mesh_notes(scenario.model.arch, scenario.plan)),
                "paper": [_row(row) for row in found.paper],
                "implemented": [_row(row) for row in found.implemented],
            }
        )
    else:
        print_rows(traffic_rows(scenario, found, width(), report_pen(args)))
    return 0


def _row(row: TrafficRow) -> dict[str, Any]:
    return {
        "axis": row.group,
        "op": row.call.op.value,
        "what": row.call.what,
        "root": row.call.root,
        "ranks": row.call.ranks,
        "groups": row.groups,
        "count": row.call.collectives,
        "payload_bytes": row.call.bytes,
        "sent_bytes": row.call.sent,
        "link": "network" if row.network else "domain",
        "leave_node": row.leave_node,
        "leave_domain": row.leave_domain,
        "algorithm": row.algorithm.value,
        "time_s": row.seconds,
    }
