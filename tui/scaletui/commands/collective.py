"""`scaletui collective`: who sends which block to whom, step by step, and the bytes that it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.collectives.family import Played
    from scaletui_engine.collectives.player import Player

HELP: Final = N_("play a collective: its messages step by step, and the bytes that every rank sends")
MOST_RANKS: Final = 128


def add_arguments(parser: ArgumentParser) -> None:
    """NAME, --ranks, --algorithm, --per-node, --bytes and --json."""
    parser.add_argument(
        "name", metavar="NAME", help=tr("all-reduce, all-gather, reduce-scatter, broadcast or all-to-all")
    )
    parser.add_argument("--ranks", type=int, default=4, metavar="N", help=tr("ranks of the group (4)"))
    parser.add_argument(
        "--algorithm",
        metavar="A",
        help=tr("ring, tree, halving, doubling, hierarchical or direct (the first that there is)"),
    )
    parser.add_argument("--per-node", type=int, metavar="G", help=tr("ranks that share a node (all of them)"))
    parser.add_argument("--bytes", default="1GiB", metavar="B", help=tr("bytes of a rank's array (1GiB)"))
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))


def run(args: Namespace) -> int:
    """Print the steps."""
    from scaletui_engine.collectives.family import player_of

    played = _played(args)
    player = player_of(played)
    if args.json:
        print_json(_json(played, player))
    else:
        from scaletui.view.collective_report import report_rows

        print_rows(report_rows(played, player, width(), report_pen(args)))
    return 0


def _played(args: Namespace) -> Played:
    """What was asked for. Raises UnknownNameError, ValueRangeError, ParseError and DivisibilityError."""
    from scaletui_engine.collectives.family import FAMILY, Played
    from scaletui_engine.errors import UnknownNameError, ValueRangeError
    from scaletui_engine.units import parse_bytes

    if not 2 <= args.ranks <= MOST_RANKS:
        raise ValueRangeError(f"{args.ranks} ranks are not in 2 <= ranks <= {MOST_RANKS}")
    per_node = args.ranks if args.per_node is None else args.per_node
    if not 1 <= per_node <= args.ranks:
        raise ValueRangeError(f"{per_node} ranks per node are not in 1 <= per node <= ranks = {args.ranks}")
    payload = parse_bytes(args.bytes)
    if payload < args.ranks:
        raise ValueRangeError(
            f"{payload} bytes / {args.ranks} ranks = {payload / args.ranks:.4g}, less than 1"
        )
    ways = {
        Played(name, args.ranks, payload, per_node).algorithm: name
        for op, names in FAMILY.items()
        if op.value == args.name
        for name in names
    }
    if not ways:
        raise UnknownNameError("collective", args.name, [op.value for op in FAMILY])
    algorithm = next(iter(ways)) if args.algorithm is None else args.algorithm
    if algorithm not in ways:
        raise UnknownNameError(f"algorithm of {args.name}", algorithm, ways)
    return Played(ways[algorithm], args.ranks, payload, per_node)


def _json(played: Played, player: Player) -> dict[str, Any]:
    from scaletui_engine.collectives.family import phase_at, volume

    found = volume(played)
    return {
        "collective": played.op.value, "algorithm": played.algorithm, "ranks": played.ranks,
        "per_node": played.per_node, "payload_bytes": played.payload,
        "formula": found.text, "most_sent_bytes": max(player.frame(player.last).sent),
        "sent_bytes": list(player.frame(player.last).sent),
        "steps": [
            {
                "phase": phase_at(played, index),
                "messages": [
                    {"from": each.source, "to": each.target, "blocks": list(player.lands(each)),
                     "bytes": each.elements, "add": each.add,
                     "leaves_node": played.crosses(each.source, each.target)}
                    for each in player.frame(index).moving
                ],
            }
            for index in range(1, player.last + 1)
        ],
    }  # fmt: skip
