"""What `scaletui memory` is asked beyond the budget, answered by the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.text.language import tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui.state.answer import Answer
    from scaletui.state.study import Study
    from scaletui.view.memory_report_host import HostNeeds
    from scaletui_engine.memory.conventions.beside import Beside
    from scaletui_engine.memory.fixes import Fix
    from scaletui_engine.memory.solve import Solution
    from scaletui_engine.scenario import Scenario

SOLVABLE: Final = ("micro-batch", "seq", "gpus")


@dataclass(frozen=True, slots=True)
class Extras:
    """The answers; None for what nobody asked."""

    study: Study | None
    """With the step, and the parts taken apart, of one stage."""
    solution: Solution | None
    fixes: tuple[Fix, ...] | None
    other: Answer | None
    host: HostNeeds | None
    tools: tuple[Beside, ...] | None


def add_extra_options(parser: ArgumentParser) -> None:
    """--timeline, --explain, --stage, --solve, --fix, --compare, --host and --tools."""
    more = parser.add_argument_group(tr("a closer look"))
    more.add_argument("--timeline", action="store_true", help=tr("memory against time in one step"))
    more.add_argument(
        "--explain", action="store_true", help=tr("every part down to tensors, formula and source")
    )
    more.add_argument(
        "--stage", metavar="N", type=int, help=tr("stage of --timeline and --explain (the fullest)")
    )
    more.add_argument(
        "--solve", choices=SOLVABLE, help=tr("largest micro-batch, longest sequence or fewest GPUs that fit")
    )
    more.add_argument(
        "--fix", action="store_true", help=tr("single changes that save memory, and their cost")
    )
    more.add_argument(
        "--compare", metavar="OTHER", help=tr("another scenario, a file or a shipped one, side by side")
    )
    more.add_argument(
        "--host", action="store_true", help=tr("host memory, loading and saving (offload shows the first)")
    )
    more.add_argument(
        "--tools", action="store_true", help=tr("what other estimators say, and why it differs")
    )


def extras(args: Namespace, here: Answer) -> Extras:
    """Ask the engine what the options ask. Raises ScenarioError, and OSError for an unreadable file."""
    from scaletui.state.answer import answer
    from scaletui_engine.memory.fixes import fixes

    scenario = here.scenario
    looks = args.timeline or args.explain
    if args.stage is not None and not looks:
        raise UsageError(tr("--stage goes with --timeline or --explain"))
    stage = _stage(args.stage, here)
    return Extras(
        study=_study(scenario, stage) if looks else None,
        solution=None if args.solve is None else _solved(args.solve, scenario),
        fixes=fixes(scenario) if args.fix else None,
        other=None if args.compare is None else answer(_other(args.compare)),
        host=host_needs(scenario) if args.host or is_offloaded(scenario) else None,
        tools=_tools(scenario) if args.tools else None,
    )


def _tools(scenario: Scenario) -> tuple[Beside, ...]:
    from scaletui_engine.memory.conventions.beside import beside

    return beside(scenario)


def _stage(asked: int | None, here: Answer) -> int:
    count = len(here.budget.stages)
    if asked is None:
        return here.worst
    if not 0 <= asked < count:
        raise UsageError(tr("--stage {stage}: the plan has stages 0 to {last}", stage=asked, last=count - 1))
    return asked


def _study(scenario: Scenario, stage: int) -> Study:
    """The step and the parts; changes and limits are asked for by options of their own."""
    from scaletui.state.study import Study
    from scaletui_engine.memory.explain import explain
    from scaletui_engine.memory.timeline import timeline

    return Study(scenario, stage, timeline(scenario, stage), explain(scenario, stage), (), ())


def _solved(what: str, scenario: Scenario) -> Solution:
    from scaletui_engine.memory.solve import fewest_gpus, largest_micro_batch, longest_seq

    solvers = {"micro-batch": largest_micro_batch, "seq": longest_seq, "gpus": fewest_gpus}
    return solvers[what](scenario)


def _other(name: str) -> Scenario:
    from scaletui.commands.scenario_file import read_scenario
    from scaletui_engine.validate import validate

    if not name.strip():
        raise UsageError(tr("--compare wants a scenario file or the name of a shipped scenario"))
    scenario = read_scenario(name)
    validate(scenario)
    return scenario


def is_offloaded(scenario: Scenario) -> bool:
    """Whether training keeps anything in host memory."""
    from scaletui_engine.plan import Offload

    plan = scenario.plan
    return plan.offload is not Offload.NONE or plan.runtime.activation_offload


def host_needs(scenario: Scenario) -> HostNeeds:
    """What one node keeps in host memory, and what loading and saving want."""
    from scaletui.view.memory_report_host import HostNeeds
    from scaletui_engine.memory.host import host_budget, loading_needs
    from scaletui_engine.memory.saving import saving_needs

    return HostNeeds(
        host_budget(scenario), loading_needs(scenario), saving_needs(scenario), is_offloaded(scenario)
    )
