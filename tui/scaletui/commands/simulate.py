"""`scaletui simulate`: parallel training on numpy ranks, and its error against one device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui.arguments import UsageError
from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.collectives.step import Procedure
    from scaletui_engine.numerics.outcome import Outcome

HELP: Final = N_("run a parallelism on numpy ranks and compare it with one device")
ZERO: Final = "zero"
DIFFERS: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """What to run, on how many ranks."""
    parser.add_argument(
        "name",
        nargs="?",
        default="all",
        metavar="NAME",
        help=tr(
            "dp ddp accumulation column-row tp sp pp zero fsdp cp ep formats loss-scaling, a collective as "
            "ring-all-reduce, or all"
        ),
    )
    parser.add_argument("--ranks", type=int, default=4, metavar="N", help=tr("numpy ranks (4)"))
    parser.add_argument("--stage", type=int, choices=(1, 2, 3), help=tr("ZeRO stage (all three)"))
    parser.add_argument(
        "--elements", type=int, default=16, metavar="N", help=tr("elements of a collective (16)")
    )
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    parser.add_argument("--check", action="store_true", help=tr("leave with 1 when anything differs"))


def run(args: Namespace) -> int:
    """Print errors, held and sent elements; 1 with --check when something differs."""
    from scaletui_engine.collectives.registry import NAMES

    if args.stage is not None and args.name != ZERO:
        raise UsageError(tr("{name} does not go with {other}", name="--stage", other=args.name))
    if args.name in NAMES:
        return _run_collective(args)
    outcomes = _outcomes(args)
    if args.json:
        print_json({"simulations": [_json(outcome) for outcome in outcomes]})
    else:
        from scaletui.view.simulate_report import simulation_rows

        print_rows(simulation_rows(outcomes, width(), report_pen(args)))
    return DIFFERS if args.check and not all(outcome.exact for outcome in outcomes) else 0


def simulation_names() -> tuple[str, ...]:
    """Everything that NAME may be."""
    from scaletui_engine.collectives.registry import NAMES
    from scaletui_engine.numerics.simulations import SIMULATIONS

    return (*SIMULATIONS, ZERO, "all", *NAMES)


def _outcomes(args: Namespace) -> list[Outcome]:
    from scaletui_engine.errors import UnknownNameError
    from scaletui_engine.numerics.simulations import SIMULATIONS, simulate

    if args.name not in simulation_names():
        raise UnknownNameError("simulation", args.name, simulation_names())
    if args.name == "all":
        return [simulate(name, args.ranks) for name in SIMULATIONS]
    if args.name == ZERO:
        stages = (1, 2, 3) if args.stage is None else (args.stage,)
        return [simulate(f"{ZERO}{stage}", args.ranks) for stage in stages]
    return [simulate(args.name, args.ranks)]


def _run_collective(args: Namespace) -> int:
    from scaletui_engine.collectives.registry import build
    from scaletui_engine.errors import ValueRangeError

    if not 1 <= args.ranks <= _MOST_RANKS:
        raise ValueRangeError(f"{args.ranks} ranks are not in 1 <= ranks <= {_MOST_RANKS}")
    procedure = build(args.name, args.ranks, args.elements)
    if args.json:
        print_json(_procedure_json(procedure))
    else:
        from scaletui.view.simulate_report import procedure_rows

        print_rows(procedure_rows(procedure, width()))
    return 0


_MOST_RANKS: Final = 64


def _procedure_json(procedure: Procedure) -> dict[str, Any]:
    return {
        "name": procedure.name,
        "ranks": procedure.ranks,
        "elements": procedure.elements,
        "sent": [procedure.sent(rank) for rank in range(procedure.ranks)],
        "steps": [
            [
                {"from": t.source, "to": t.target, "block": [t.start, t.stop], "lands": list(t.lands),
                 "add": t.add}
                for t in step.transfers
            ]
            for step in procedure.steps
        ],
    }  # fmt: skip


def _json(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "ranks": outcome.ranks,
        "largest_error": outcome.error,
        "relative_error": outcome.relative,
        "compared": outcome.compared,
        "held": [
            {
                "part": held.part,
                "counted": held.counted,
                "predicted": held.predicted,
                "memory_engine": held.memory,
            }
            for held in outcome.held
        ],
        "sent_elements": outcome.sent,
        "predicted_sent_elements": outcome.predicted_sent,
        "exact": outcome.exact,
    }
