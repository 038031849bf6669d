"""`scaletui memory`: the budget of every pipeline stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.scenario_options import add_scenario_options, scenario_from
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.memory.budget import ByteRange, MemoryBudget
    from scaletui_engine.scenario import Scenario

HELP: Final = N_("memory of every pipeline stage, and whether it fits")
DOES_NOT_FIT: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """SCENARIO OPTIONS, --json and --check."""
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    parser.add_argument("--check", action="store_true", help=tr("leave with 1 when it does not fit"))
    add_scenario_options(parser)


def run(args: Namespace) -> int:
    """Print the budget; 1 with --check when it does not fit."""
    from scaletui_engine.memory import evaluate

    scenario = scenario_from(args)
    budget = evaluate(scenario)
    if args.json:
        print_json(as_json(scenario, budget))
    else:
        _print_report(args, scenario, budget)
    return DOES_NOT_FIT if args.check and not budget.fits else 0


def _print_report(args: Namespace, scenario: Scenario, budget: MemoryBudget) -> None:
    from scaletui.view.memory_report import MemoryReport, report_rows
    from scaletui_engine.tensors import count_parameters

    report = MemoryReport(scenario, budget, count_parameters(scenario.model.arch))
    print_rows(report_rows(report, width(), report_pen(args)))


def as_json(scenario: Scenario, budget: MemoryBudget) -> dict[str, Any]:
    """The budget with the keys that scripts rely on; bytes are whole numbers."""
    from scaletui_engine.tensors import count_parameters

    params = count_parameters(scenario.model.arch)
    return {
        "model": scenario.model.id,
        "params": params.total,
        "params_active": params.active,
        "gpu": scenario.cluster.gpu.id,
        "capacity_bytes": budget.capacity_bytes,
        "capacity_is_nominal": budget.capacity_is_nominal,
        "stages": [
            {
                "stage": stage.stage,
                "phase": stage.phase,
                "parts": dict(stage.parts.items()),
                "peak_bytes": stage.peak_bytes,
                "reserved_bytes": _pair(stage.reserved),
                "outside_bytes": _pair(stage.outside),
            }
            for stage in budget.stages
        ],
        "peak_bytes": budget.peak.peak_bytes,
        "peak_stage": budget.peak.stage,
        "fits": budget.fits,
        "headroom_bytes": budget.headroom_bytes,
        "assumptions": list(budget.assumptions),
    }


def _pair(span: ByteRange) -> list[int]:
    return [span.low, span.high]
