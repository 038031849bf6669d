"""From the arguments of `scaletui schedule` to what the engine is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.commands.schedule_layout import given_layout, layout_remarks, layout_text, model_remarks, timed
from scaletui.commands.schedule_memory import FIELDS as MEMORY_FIELDS
from scaletui.commands.schedule_memory import given_deltas
from scaletui.commands.schedule_options import choices_for
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ParseError, brief

if TYPE_CHECKING:
    from argparse import Namespace

    from scaletui_engine.scenario import Scenario
    from scaletui_engine.schedule.deltas import Deltas
    from scaletui_engine.schedule.interchange.megatron_layout import Layout
    from scaletui_engine.schedule.modes.transport import Transport
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.orders.request import Request
    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.times import Times

_OWN: Final = (
    "stages", "microbatches", "forward", "input_grad", "weight_grad", "backward", "comm", "microbatch_scale",
    *MEMORY_FIELDS,
)  # fmt: skip
"""What a scenario says itself."""
LARGEST: Final = 64 << 20
"""Bytes of the longest schedule file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One schedule and its times."""

    schedule: Schedule
    times: Times
    deltas: Deltas | None = None
    """Bytes, where a scenario says them."""
    weights: tuple[float, ...] = ()
    """Bytes of the weights of each stage, where a scenario says them."""
    assumptions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """Sentences for the report."""
    layout: str = ""
    """The layers of every stage as Megatron-LM writes them, where they are known."""
    step: OptimizerStep | None = None
    """The optimizer step, where one was asked for."""
    memory: Deltas | None = None
    """In a unit of their own, where they were given."""

    @property
    def counted(self) -> Deltas:
        """What its memory is counted by: live chunks where nothing says more."""
        from scaletui_engine.schedule.deltas import FREED_BY_WEIGHT_GRAD

        return self.deltas or self.memory or FREED_BY_WEIGHT_GRAD


def transport_of(args: Namespace) -> Transport:
    """How messages travel."""
    from scaletui_engine.schedule.modes.transport import Transport

    return Transport(args.transport)


def asked(args: Namespace, name: str | None) -> Asked:
    """The schedule of a file, of a scenario, or of a shape. Raises ScenarioError, OSError."""
    if args.load is not None:
        return _loaded(args, name)
    if args.scenario is not None:
        return _of_scenario(args, name)
    from scaletui_engine.schedule.registry import build

    layout = given_layout(args)
    request = _of_shape(args, name, layout)
    return _laid_out(Asked(build(request), request.times, memory=given_deltas(args)), layout)


def _laid_out(found: Asked, layout: Layout | None) -> Asked:
    """What was found, and the layout that gave its stages their times."""
    if layout is None:
        return found
    return replace(found, layout=str(layout), remarks=(*found.remarks, *layout_remarks(layout)))


def _of_shape(args: Namespace, name: str | None, layout: Layout | None) -> Request:
    from scaletui_engine.schedule.interchange.megatron_layout import require_ranks
    from scaletui_engine.schedule.orders.request import Request
    from scaletui_engine.schedule.registry import entry
    from scaletui_engine.schedule.shape import Shape

    if name is None:
        raise UsageError(tr("missing: {what}", what="NAME"))
    require_shape(args)
    chunks = entry(name).default_chunks if args.chunks is None else args.chunks
    if layout is not None:
        chunks = require_ranks(layout, args.stages)
    shape = Shape(args.stages, args.microbatches, chunks)
    return Request(name, shape, choices_for(args, name), timed(times_of(args), layout))


def require_shape(args: Namespace) -> None:
    """Raises UsageError when ranks or microbatches were left open."""
    options = {"--stages": args.stages, "--microbatches": args.microbatches}
    if missing := [option for option, value in options.items() if value is None]:
        raise UsageError(tr("missing: {what}", what=" ".join(missing)))


def times_of(args: Namespace) -> Times:
    """The times that were given, 1 t for what was not, in the order of the stages where there are several."""
    from scaletui_engine.schedule.times import Times

    return Times(
        forward=_times(args, "forward", "1"),
        input_grad=_times(args, "input_grad", "1"),
        weight_grad=_times(args, "weight_grad", "1"),
        backward=None if args.backward is None else _times(args, "backward", ""),
        comm=_times(args, "comm", "0"),
        overlapped=args.overlapped,
        microbatch_scale=() if args.microbatch_scale is None else _times(args, "microbatch_scale", ""),
    )


def _times(args: Namespace, field: str, default: str) -> tuple[float, ...]:
    text = getattr(args, field)
    words = (default if text is None else text).split(",")
    try:
        return tuple(map(float, words))
    except ValueError:
        option = "--" + field.replace("_", "-")
        raise UsageError(
            tr("{option}: {text} is not a time, nor times like 1,1,2", option=option, text=brief(text))
        ) from None


def _loaded(args: Namespace, name: str | None) -> Asked:
    """A file; with NAME its stages must lie where that schedule puts them."""
    from scaletui_engine.schedule.placement import require_placement
    from scaletui_engine.schedule.registry import entry

    try:
        schedule, remarks = _read(args)
        if name is not None:
            placement = entry(name).placement(schedule.ranks, schedule.shape.chunks)
            require_placement(schedule.placement, placement, name)
    except ParseError as error:
        raise UsageError(f"{args.load}: {refusal(error)}") from error
    layout = given_layout(args)
    found = Asked(schedule, timed(times_of(args), layout), memory=given_deltas(args), remarks=remarks)
    return _laid_out(found, layout)


def _read(args: Namespace) -> tuple[Schedule, tuple[str, ...]]:
    """Megatron-LM's signed chunks where there are numbers alone, else PyTorch's CSV."""
    from scaletui_engine.schedule.interchange.chunk_order import read_chunk_orders
    from scaletui_engine.schedule.interchange.csv_reader import read_csv
    from scaletui_engine.schedule.interchange.dialect import Dialect
    from scaletui_engine.schedule.modes.wiring import require_messages

    text = _text(args.load)
    if text.strip() and not set(text) - set("0123456789+- \t\r\n"):
        return read_chunk_orders(text, args.load), (tr("signed chunks, as Megatron-LM orders them"),)
    found = read_csv(text, replicas=args.replicas, name=args.load)
    if found.lowered:
        require_messages(found.schedule)
    remarks = {
        Dialect.B_AND_BW: tr("letters of 2024: B is read as I, BW as B"),
        Dialect.UNDERSCORE: tr("cells of June 2024, as in F0_s4"),
    }
    return found.schedule, tuple(filter(None, (remarks.get(found.dialect),)))


def _text(path: str) -> str:
    with open(path, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UsageError(tr("{path}: larger than 64 MiB: no schedule", path=path))
    return content.decode("utf-8-sig", errors="replace")


def _of_scenario(args: Namespace, name: str | None) -> Asked:
    """The pipeline of a scenario, its own schedule or another; times and bytes are estimates."""
    from scaletui_engine.schedule.estimate.from_layout import dealt, scenario_layout
    from scaletui_engine.schedule.estimate.from_scenario import estimate
    from scaletui_engine.schedule.registry import build
    from scaletui_engine.validate import validate

    for option in _OWN:
        if getattr(args, option) is not None:
            other = "--" + option.replace("_", "-")
            raise UsageError(tr("{name} does not go with {other}", name=other, other="--scenario"))
    layout = given_layout(args)
    scenario = _scenario(args, name)
    if layout is None:
        validate(scenario)
        layout = scenario_layout(scenario)
    else:
        scenario = dealt(scenario, layout)
    found = estimate(scenario)
    return Asked(
        build(replace(found.request, choices=choices_for(args, found.request.name))),
        found.request.times,
        found.deltas,
        found.weights,
        found.assumptions,
        remarks=(layout_text(layout), *model_remarks(layout)) if layout.stages[1:] else (),
        layout=str(layout),
    )


def _scenario(args: Namespace, name: str | None) -> Scenario:
    """The one that was named, with another schedule where one was."""
    from scaletui.commands.scenario_file import read_scenario
    from scaletui_engine.edit import with_value
    from scaletui_engine.schedule.registry import entry

    scenario = read_scenario(args.scenario)
    if name is None:
        return scenario
    chunks = entry(name).default_chunks if args.chunks is None else args.chunks
    return with_value(with_value(scenario, "schedule", name), "chunks", chunks)
