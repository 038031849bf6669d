"""`scaletui schedule`: simulate a pipeline schedule or compare several; files in and out; or the screen."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.schedule_memory import add_memory
from scaletui.commands.schedule_options import require_use
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from scaletui.commands.schedule_request import Asked
    from scaletui_engine.schedule.modes.transport import Transport
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.result import Result

HELP: Final = N_("simulate a pipeline schedule; without a name: the screen")
PLAIN_WIDTH: Final = 160
"""Columns of a chart where no terminal says how wide it is."""
BASES: Final = ("ranks", "stages")
TRANSPORTS: Final = ("async", "blocking", "in-order", "late-launch")


def add_arguments(parser: ArgumentParser) -> None:
    """The schedule, its times, and what to print or write."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help=tr("a schedule, as in 1f1b, zb-v or ZBVZeroBubble")
    )
    _add_shape(parser)
    _add_times(parser)
    add_memory(parser)
    _add_output(parser)


def _add_shape(parser: ArgumentParser) -> None:
    what = parser.add_argument_group(tr("pipeline"))
    what.add_argument("--stages", type=int, metavar="P", help=tr("pipeline ranks"))
    what.add_argument("--microbatches", type=int, metavar="M", help=tr("microbatches of a step"))
    what.add_argument("--chunks", type=int, metavar="V", help=tr("model chunks a pipeline rank (1, or 2)"))
    what.add_argument(
        "--layout", metavar="L", help=tr("Megatron-LM's layout of the stages, as in Et*3|(tt|)*29,m|L")
    )
    what.add_argument("--group", type=int, metavar="N", help=tr("microbatches a group, interleaved (P)"))
    what.add_argument("--slices", type=int, metavar="K", help=tr("slices of a sequence, seq1f1b (2)"))
    what.add_argument(
        "--memory-limit", type=float, metavar="X", help=tr("microbatches a rank may hold, zb-auto (2 P)")
    )
    what.add_argument(
        "--no-reorder", action="store_true", help=tr("v-half, v-min: building blocks repeated, no more")
    )
    what.add_argument(
        "--scenario", metavar="FILE", help=tr("shape, times and bytes of a scenario's pipeline")
    )
    what.add_argument("--load", metavar="FILE", help=tr("an order as PyTorch or Megatron-LM writes it"))
    what.add_argument("--replicas", action="store_true", help=tr("with --load: a stage may be on two ranks"))


def _add_times(parser: ArgumentParser) -> None:
    times = parser.add_argument_group(tr("times of one action: one, or one a stage as in 1,1,2"))
    times.add_argument("--forward", metavar="F", help=tr("forward (1)"))
    times.add_argument("--input-grad", metavar="I", help=tr("gradient of the input (1)"))
    times.add_argument("--weight-grad", metavar="W", help=tr("gradient of the weights (1)"))
    times.add_argument("--backward", metavar="B", help=tr("both gradients in one (I + W)"))
    times.add_argument(
        "--overlapped", type=float, metavar="T", help=tr("an overlapped forward and backward (F + B)")
    )
    times.add_argument("--comm", metavar="C", help=tr("a message between ranks (0)"))
    times.add_argument(
        "--microbatch-scale", metavar="S", help=tr("a factor for every microbatch, as in 1,1,0.5 (1)")
    )
    times.add_argument(
        "--transport", choices=TRANSPORTS, default="async", help=tr("how messages travel (async)")
    )
    times.add_argument(
        "--optimizer-step", type=float, metavar="T", help=tr("the optimizer step after the pipeline (none)")
    )
    times.add_argument(
        "--each-alone", action="store_true", help=tr("no rank's optimizer step waits for other ranks")
    )


def _add_output(parser: ArgumentParser) -> None:
    out = parser.add_argument_group(tr("output"))
    form = out.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    form.add_argument("--csv", action="store_true", help=tr("print PyTorch's CSV, one row a rank"))
    form.add_argument(
        "--comms", action="store_true", help=tr("the same with sends, receives and FSDP actions")
    )
    form.add_argument(
        "--chunk-order", action="store_true", help=tr("print Megatron-LM's signed chunks, one row a rank")
    )
    form.add_argument("--plain", action="store_true", help=tr("print the Gantt chart as text"))
    out.add_argument("--compare", metavar="A,B", help=tr('compare schedules; "all" is every one'))
    out.add_argument("--basis", choices=BASES, help=tr("what stays the same in a comparison (ranks)"))
    out.add_argument("--trace", metavar="FILE", help=tr("write a Chrome trace, for Perfetto too"))
    out.add_argument("--svg", metavar="FILE", help=tr("write a picture"))


def run(args: Namespace) -> int:
    """Print or write what was asked; the screen when nothing was."""
    _refuse_empty(args)
    require_use(args)
    if _asks_nothing(args):
        from scaletui.commands.screen import open_screen, screen_options

        return open_screen(screen_options(args, os.environ))
    if args.compare is not None:
        from scaletui.commands.schedule_compare import compare

        return compare(args)
    from scaletui.commands.schedule_request import asked, transport_of

    found = asked(args, args.name)
    is_order = args.csv or args.comms or args.chunk_order
    if is_order and args.trace is None and args.svg is None:
        _print_order(found, args)
        return 0
    result = _result(found, transport_of(args))
    found = replace(found, step=_step(args, result))
    _write_files(args, found, result)
    if is_order:
        _print_order(found, args)
    else:
        _print(args, found, result)
    return 0


def _refuse_empty(args: Namespace) -> None:
    """Raises UsageError for an option that was given nothing."""
    for option in ("load", "scenario", "layout", "compare", "trace", "svg"):
        if getattr(args, option) is not None and not getattr(args, option).strip(" ,"):
            raise UsageError(tr("{name} wants a value", name=f"--{option}"))


def _asks_nothing(args: Namespace) -> bool:
    asked = (args.name, args.load, args.scenario, args.layout, args.compare, args.stages, args.microbatches)
    return all(value is None for value in asked)


def _result(found: Asked, transport: Transport) -> Result:
    from scaletui_engine.schedule.modes.transport import simulate_transport
    from scaletui_engine.schedule.result import result_of

    timeline = simulate_transport(found.schedule, found.times, transport)
    return result_of(timeline, found.counted)


def _step(args: Namespace, result: Result) -> OptimizerStep | None:
    from scaletui_engine.schedule.optimizer_step import optimizer_step

    if args.optimizer_step is None:
        return None
    return optimizer_step(result.timeline, args.optimizer_step, synchronised=not args.each_alone)


def _print_order(found: Asked, args: Namespace) -> None:
    from scaletui_engine.schedule.check import check
    from scaletui_engine.schedule.fault import OrderError
    from scaletui_engine.schedule.interchange.chunk_order import chunk_order
    from scaletui_engine.schedule.interchange.csv_writer import csv_lines
    from scaletui_engine.schedule.lowering import compute_only, lower

    plain = compute_only(found.schedule)
    if faults := check(plain):
        raise OrderError(faults)
    lines: Iterator[str]
    if args.chunk_order:
        lines = (" ".join(map(str, chunk_order(plain, rank))) for rank in range(plain.ranks))
    else:
        lines = csv_lines(lower(plain) if args.comms else plain)
    print("\n".join(lines))
    if plain.placement.replicas > 1 and not args.chunk_order:
        from scaletui.view.schedule_names import runtime_note

        print(f"scaletui: {plain.name}: {runtime_note()}", file=sys.stderr)


def _write_files(args: Namespace, found: Asked, result: Result) -> None:
    timeline = result.timeline
    if args.trace is not None:
        from scaletui_engine.schedule.interchange.chrome_trace import SECOND_US, SLOT_US, chrome_trace

        unit = SECOND_US if timeline.times.estimated else SLOT_US
        _write(args.trace, chrome_trace(timeline, unit))
    if args.svg is not None:
        from scaletui.view.schedule_report import headline
        from scaletui_engine.schedule.interchange.svg import svg

        _write(args.svg, (svg(timeline, headline(result, report_pen(args).numbers), found.step),))


def _write(path: str, lines: Iterable[str]) -> None:
    """Raises OSError with the name of the file, also where writing alone fails."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _print(args: Namespace, found: Asked, result: Result) -> None:
    if args.json:
        from scaletui.commands.schedule_json import as_json

        print_json(as_json(result, found))
    elif args.plain:
        from scaletui_engine.schedule.gantt import gantt_lines

        print("\n".join(gantt_lines(result.timeline, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns)))
    else:
        from scaletui.view.schedule_report import memory_text, report_rows, step_text, weights_text
        from scaletui_engine.schedule.weights import weights_bytes

        pen, remarks = report_pen(args), found.remarks
        if found.weights:
            held = weights_bytes(found.schedule, found.weights)
            remarks = (weights_text(held, pen.numbers), *remarks)
        if found.memory is not None:
            remarks = (memory_text(result, pen.numbers), *remarks)
        if found.step is not None:
            remarks = (step_text(found.step, result, pen.numbers), *remarks)
        print_rows(report_rows(result, remarks, width(), pen))
