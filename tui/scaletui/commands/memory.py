"""`scaletui memory`: the budget of every pipeline stage."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from scaletui.commands.memory_extras import add_extra_options, extras
from scaletui.commands.memory_json import extras_json
from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.scenario_options import add_scenario_options, scenario_from
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from scaletui.commands.memory_extras import Extras
    from scaletui.state.answer import Answer
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_engine.memory.budget import ByteRange, MemoryBudget
    from scaletui_engine.model import Model
    from scaletui_engine.scenario import Scenario

    Section: TypeAlias = Callable[[int, Pen], Iterable[Row]]

HELP: Final = N_("memory of every pipeline stage, and whether it fits")
DOES_NOT_FIT: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """SCENARIO OPTIONS, --json, --check, and the options of a closer look."""
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    parser.add_argument("--check", action="store_true", help=tr("leave with 1 when it does not fit"))
    add_extra_options(parser)
    add_scenario_options(parser)


def run(args: Namespace) -> int:
    """Print the budget and what else was asked; 1 with --check when it does not fit."""
    from scaletui.state.answer import answer

    here = answer(scenario_from(args))
    found = extras(args, here)
    if args.json:
        print_json(as_json(here.scenario, here.budget) | extras_json(args, here, found))
    else:
        _print_report(args, here, found)
    return DOES_NOT_FIT if args.check and not here.budget.fits else 0


def _print_report(args: Namespace, here: Answer, found: Extras) -> None:
    from scaletui.view.memory_report import MemoryReport, report_rows
    from scaletui_engine.tensors import count_parameters

    pen, cells = report_pen(args), width()
    report = MemoryReport(here.scenario, here.budget, count_parameters(here.scenario.model.arch))
    print_rows(report_rows(report, cells, pen))
    for section in _sections(args, here, found):
        print()
        print_rows(section(cells, pen))


def _sections(args: Namespace, here: Answer, found: Extras) -> Iterator[Section]:
    """What stands below the budget, in the order of the options' help."""
    from scaletui.state.budget import BudgetState
    from scaletui.view import memory_report_changes as changes
    from scaletui.view import memory_report_closer as closer
    from scaletui.view import memory_report_compare as compared
    from scaletui.view import memory_report_host as host
    from scaletui.view.memory_report_tools import tools_rows

    if found.study is not None:
        state = BudgetState(here, stage=found.study.stage, study=found.study)
        if args.timeline:
            yield partial(closer.step_section, state)
        if args.explain:
            yield partial(closer.parts_section, state)
    if found.solution is not None:
        yield partial(changes.solution_rows, here.scenario, found.solution)
    if found.fixes is not None:
        yield partial(changes.changes_rows, found.fixes)
    if found.other is not None:
        yield partial(compared.compare_rows, here, found.other)
    if found.host is not None:
        yield partial(host.host_rows, found.host)
        if args.host:
            yield partial(host.checkpoint_rows, found.host)
    if found.tools is not None:
        yield partial(tools_rows, found.tools)


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
        **_noted(scenario.model),
    }


def _noted(model: Model) -> dict[str, str]:
    """What a model's file left out or holds beside what is counted; nothing for the catalogue's."""
    from scaletui_engine.model_table import is_of_catalogue

    return {} if model.note is None or is_of_catalogue(model) else {"model_note": model.note}


def _pair(span: ByteRange) -> list[int]:
    return [span.low, span.high]
