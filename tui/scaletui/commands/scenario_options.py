"""SCENARIO OPTIONS: a scenario file, or a model on GPUs, and what differs from the defaults."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scaletui.arguments import UsageError
from scaletui.text.language import tr
from scaletui_engine.errors import ParseError
from scaletui_engine.plan import Offload, Plan, Recompute, Split, Strategy
from scaletui_engine.units import parse_count

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup

    from scaletui_engine.scenario import Scenario

_AXES: Final = ("tp", "cp", "ep", "pp", "dp_replicate", "dp_shard")
_PLAN: Final = (
    "strategy", "precision", "optimizer", "micro_batch", "global_batch", "seq", "recompute", "offload",
    "schedule", "chunks", "layer_split",
)  # fmt: skip
_CLUSTER: Final = ("gpu", "gpus", "gpus_per_node")
_CHOICES: Final = {
    "strategy": Strategy,
    "recompute": Recompute,
    "offload": Offload,
    "layer_split": Split,
}
OPTIONS: Final = ("scenario", "model", *_CLUSTER, *_AXES, *_PLAN)
"""Names of everything that these options put into the namespace; None where it was not given."""


def count(text: str) -> int:
    """A whole number, "8192" or "8k", as an argparse type."""
    try:
        return parse_count(text)
    except ParseError as error:
        raise ArgumentTypeError(str(error)) from error


def add_scenario_options(parser: ArgumentParser) -> None:
    """Add --scenario, --model, --gpu, --gpus and every part of a plan."""
    what = parser.add_argument_group(tr("scenario"))
    what.add_argument("--scenario", metavar="FILE", help=tr("a scenario file (TOML) or a shipped scenario"))
    what.add_argument("--model", metavar="ID", help=tr("a model of the catalogue"))
    what.add_argument("--gpu", metavar="ID", help=tr("an accelerator of the catalogue"))
    what.add_argument("--gpus", type=count, metavar="N", help=tr("how many of them"))
    what.add_argument("--gpus-per-node", type=count, metavar="N", help=tr("GPUs of one node (8)"))
    _add_axes(parser)
    _add_training(parser)


def _add_axes(parser: ArgumentParser) -> None:
    axes = parser.add_argument_group(tr("mesh and pipeline"))
    for name, what in (
        ("tp", tr("tensor parallel degree")),
        ("pp", tr("pipeline ranks")),
        ("cp", tr("context parallel degree")),
        ("ep", tr("expert parallel degree")),
        ("dp-replicate", tr("data-parallel replicas")),
        ("dp-shard", tr("ranks that shard the states (the GPUs left)")),
    ):
        axes.add_argument(f"--{name}", type=count, metavar="N", help=what)
    axes.add_argument("--schedule", metavar="NAME", help=tr("pipeline schedule (1f1b)"))
    axes.add_argument("--chunks", type=count, metavar="V", help=tr("model chunks a pipeline rank (1)"))
    _add_choice(axes, "layer_split", tr("how layers are dealt to stages (even)"))


def _add_training(parser: ArgumentParser) -> None:
    how = parser.add_argument_group(tr("training"))
    _add_choice(how, "strategy", tr("who holds the states (fsdp)"))
    how.add_argument("--precision", metavar="RECIPE", help=tr("bytes of every part (bf16-mixed)"))
    how.add_argument("--optimizer", metavar="NAME", help=tr("optimizer (adamw)"))
    how.add_argument("--micro-batch", type=count, metavar="N", help=tr("sequences of a microbatch (1)"))
    how.add_argument(
        "--global-batch", type=count, metavar="N", help=tr("sequences of a step (micro-batch x dp)")
    )
    how.add_argument("--seq", type=count, metavar="N", help=tr("tokens of a sequence (4096 at most)"))
    _add_choice(how, "recompute", tr("activations computed twice (none)"))
    _add_choice(how, "offload", tr("what lives in host memory (none)"))


def _add_choice(group: _ArgumentGroup, name: str, what: str) -> None:
    choices = [member.value for member in _CHOICES[name]]
    group.add_argument("--" + name.replace("_", "-"), choices=choices, help=what)


def asks_scenario(args: Namespace) -> bool:
    """Whether any of the options was given."""
    return bool(_given(args, OPTIONS))


def scenario_from(args: Namespace) -> Scenario:
    """The validated scenario of the options. Raises ScenarioError, and OSError for an unreadable file."""
    from scaletui_engine.validate import validate

    scenario = _from_choices(args) if args.scenario is None else _from_file(args)
    validate(scenario)
    return scenario


def _given(args: Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    return {name: _CHOICES[name](value) if name in _CHOICES else value for name, value in given.items()}


def _from_choices(args: Namespace) -> Scenario:
    from scaletui_engine import defaults

    missing = [f"--{name}" for name in ("model", "gpu", "gpus") if getattr(args, name) is None]
    if missing:
        raise UsageError(tr("no --scenario FILE, so these are needed: {options}", options=" ".join(missing)))
    return defaults.scenario_from(defaults.Choices(**_given(args, OPTIONS)))


def _from_file(args: Namespace) -> Scenario:
    """The file's scenario with the other options laid over it; new degrees leave the other GPUs to dp."""
    from scaletui_engine.scenario_file import load

    from scaletui_engine.catalog import load_gpu, load_model

    scenario = load(args.scenario)
    model = scenario.model if args.model is None else load_model(args.model)
    given = _given(args, _CLUSTER)
    if args.gpu is not None:
        given["gpu"] = load_gpu(args.gpu)
    cluster = replace(scenario.cluster, **given)
    plan = replace(scenario.plan, **_given(args, _PLAN))
    scenario = replace(scenario, model=model, cluster=cluster, plan=plan)
    return replace(scenario, plan=_remeshed(scenario, args))


def _remeshed(scenario: Scenario, args: Namespace) -> Plan:
    from scaletui_engine.defaults import split_data_parallel

    plan, given = scenario.plan, _given(args, _AXES)
    axes = replace(plan.axes, **given)
    free = not {"dp_replicate", "dp_shard"} & given.keys()
    if free and axes.world != scenario.cluster.gpus:
        left = scenario.cluster.gpus // (axes.tp * axes.cp * axes.pp)
        replicate, shard = split_data_parallel(plan.strategy, left, scenario.cluster.gpus_per_node)
        axes = replace(axes, dp_replicate=replicate, dp_shard=shard)
    return replace(plan, axes=axes)
