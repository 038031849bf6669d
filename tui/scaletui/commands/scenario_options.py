"""SCENARIO OPTIONS: a scenario file, or a model on GPUs, and what differs from the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui.arguments import UsageError
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.scenario import Scenario

FIELDS: Final = (
    "model", "gpu", "gpus", "gpus_per_node", "tp", "cp", "ep", "pp", "dp_replicate", "dp_shard", "strategy",
    "precision", "optimizer", "recompute", "offload", "micro_batch", "global_batch", "seq", "schedule",
    "chunks", "layer_split",
)  # fmt: skip
"""Fields of a scenario that have an option, in the order in which they are laid over a file."""


def add_scenario_options(parser: ArgumentParser) -> None:
    """Add --scenario, --model, --gpu, --gpus and every part of a plan."""
    what = parser.add_argument_group(tr("scenario"))
    what.add_argument("--scenario", metavar="FILE", help=tr("a scenario file (TOML) or a shipped scenario"))
    what.add_argument(
        "--model",
        metavar="ID",
        help=tr("a model: of the catalogue, or a file (config.json, TOML) or its folder"),
    )
    what.add_argument("--gpu", metavar="ID", help=tr("an accelerator of the catalogue"))
    what.add_argument("--gpus", metavar="N", help=tr("how many of them"))
    what.add_argument("--gpus-per-node", metavar="N", help=tr("GPUs of one node (8)"))
    _add_mesh(parser)
    _add_training(parser)


def _add_mesh(parser: ArgumentParser) -> None:
    mesh = parser.add_argument_group(tr("mesh and pipeline"))
    mesh.add_argument("--tp", metavar="N", help=tr("tensor parallel degree"))
    mesh.add_argument("--pp", metavar="N", help=tr("pipeline ranks"))
    mesh.add_argument("--cp", metavar="N", help=tr("context parallel degree"))
    mesh.add_argument("--ep", metavar="N", help=tr("expert parallel degree"))
    mesh.add_argument("--dp-replicate", metavar="N", help=tr("data-parallel replicas"))
    mesh.add_argument("--dp-shard", metavar="N", help=tr("ranks that shard the states (the GPUs left)"))
    mesh.add_argument("--schedule", metavar="NAME", help=tr("pipeline schedule (1f1b)"))
    mesh.add_argument("--chunks", metavar="V", help=tr("model chunks a pipeline rank (1)"))
    mesh.add_argument(
        "--layer-split",
        metavar="HOW",
        help=tr("layers of each stage: even (default), front, ends, 7,8,8,7 or Et*7|(t*8|)*2,t*7L"),
    )


def _add_training(parser: ArgumentParser) -> None:
    how = parser.add_argument_group(tr("training"))
    how.add_argument(
        "--strategy",
        metavar="HOW",
        help=tr("who holds the states: ddp, zero1, zero2, zero3, fsdp1, fsdp (default), hsdp"),
    )
    how.add_argument("--precision", metavar="RECIPE", help=tr("bytes of every part (bf16-mixed)"))
    how.add_argument("--optimizer", metavar="NAME", help=tr("optimizer (adamw)"))
    how.add_argument("--micro-batch", metavar="N", help=tr("sequences of a microbatch (1)"))
    how.add_argument("--global-batch", metavar="N", help=tr("sequences of a step (micro-batch x dp)"))
    how.add_argument("--seq", metavar="N", help=tr("tokens of a sequence (4096, or the model's longest)"))
    how.add_argument(
        "--recompute", metavar="WHAT", help=tr("activations computed twice: none (default), selective, full")
    )
    how.add_argument(
        "--offload", metavar="WHAT", help=tr("held in host memory: none (default), optimizer, params")
    )


def asks_scenario(args: Namespace) -> bool:
    """Whether any of the options was given."""
    return args.scenario is not None or bool(_words(args))


def scenario_from(args: Namespace) -> Scenario:
    """The valid scenario of the options. Raises ScenarioError, and OSError for an unreadable file."""
    from scaletui_engine.validate import validate

    scenario = _from_choices(args) if args.scenario is None else _overlaid(args)
    validate(scenario)
    return scenario


def _words(args: Namespace) -> dict[str, str]:
    given = {field: getattr(args, field, None) for field in FIELDS}
    return {field: word for field, word in given.items() if word is not None}


def _given(args: Namespace) -> dict[str, Any]:
    """Field -> value of every option that was given."""
    from scaletui.commands.model_file import model_of
    from scaletui_engine.edit import parse_value

    values: dict[str, Any] = {}
    for field, word in _words(args).items():
        try:
            values[field] = model_of(word) if field == "model" else parse_value(field, word)
        except ScenarioError as error:
            raise UsageError(f"{_option(field)}: {refusal(error)}") from error
    return values


def _option(field: str) -> str:
    return "--" + field.replace("_", "-")


def _from_choices(args: Namespace) -> Scenario:
    from scaletui_engine.defaults import Choices, scenario_from

    missing = [_option(field) for field in ("model", "gpu", "gpus") if getattr(args, field) is None]
    if missing:
        raise UsageError(tr("no --scenario FILE, so these are needed: {options}", options=" ".join(missing)))
    return scenario_from(Choices(**_given(args)))


def _overlaid(args: Namespace) -> Scenario:
    """The file's scenario with the other options laid over it, each carrying along what depends on it.

    Laid twice, since a later option may move what an earlier one said; what still moves is a contradiction.
    """
    from scaletui.commands.scenario_file import read_scenario
    from scaletui_engine.edit import value_of, with_value

    scenario, given = read_scenario(args.scenario), _given(args)
    for field, value in (*given.items(), *given.items()):
        scenario = with_value(scenario, field, value)
    for field, value in given.items():
        if value_of(scenario, field) != getattr(value, "id", value):
            raise UsageError(
                tr(
                    "{option} {value} does not agree with the other options: they make it {other}",
                    option=_option(field),
                    value=value,
                    other=value_of(scenario, field),
                )
            )
    return scenario
