"""`scaletui live`: watch running jobs, on the screen or once; and clear away what finished ones left."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Final

from scaletui.commands.export import add_export_arguments, asks_export, export
from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.probe import lacking, process_rings, relation
from scaletui.commands.process_rings import only
from scaletui.text.language import N_, ntr, tr
from scaletui_engine.errors import ParseError, ScenarioError, ValueRangeError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui.commands.process_rings import ProcessRing
    from scaletui_engine.live.snapshot import Snapshot

HELP: Final = N_("watch running jobs")
SHORTEST_S: Final = 0.1
NARROWEST: Final = 40
"""Columns that a report of ranks can do with."""
LONGEST_S: Final = 3_600
_AGE: Final = re.compile(r"(\d{1,6})([smhd])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def add_arguments(parser: ArgumentParser) -> None:
    """--once and its forms, --record and its own, --dir, --clean."""
    parser.add_argument("--once", action="store_true", help=tr("print what is there now and leave"))
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object (with --once)"))
    add_export_arguments(parser)
    parser.add_argument("--record", metavar="FILE", help=tr("keep what there is to see in a new file"))
    parser.add_argument(
        "--no-screen", action="store_true", help=tr("with --record: show nothing, until Ctrl-C")
    )
    parser.add_argument("--for", dest="seconds", metavar="TIME", help=tr("with --no-screen: 60s, 30m, 12h"))
    parser.add_argument(
        "--interval", type=float, metavar="S", help=tr("seconds between two looks (0.5; 1 over SSH)")
    )
    parser.add_argument("--dir", metavar="D", help=tr("folder of the rings"))
    parser.add_argument("--pid", type=int, metavar="N", help=tr("watch, if this process has a ring"))
    parser.add_argument(
        "--clean", action="store_true", help=tr("remove the rings of jobs that ended long ago")
    )
    parser.add_argument(
        "--older-than", default="7d", metavar="AGE", help=tr("how long ago, for --clean: 30m, 12h, 7d (7d)")
    )


def run(args: Namespace) -> int:
    """Clean, print, record, or open the screen."""
    if args.clean:
        return _clean(args)
    rings: tuple[ProcessRing, ...] = ()
    if args.pid is not None:
        folder, rings = process_rings(args.pid, args.dir)
        if not rings:
            return lacking(args.pid, folder, sys.stderr if args.json or asks_export(args) else sys.stdout)
    if asks_export(args) or args.once or args.json:
        return _once(args, rings)
    if rings:
        args.pid = rings[0].pid
    if args.record or args.no_screen or args.seconds:
        from scaletui.commands.live_record import record

        return record(args, None if args.seconds is None else age_s(args.seconds, "--for"))
    return open_live(args)


def open_live(args: Namespace) -> int:
    """The screen, as the command line asks for it."""
    from dataclasses import replace

    from scaletui.commands.screen import open_screen, screen_options
    from scaletui.first_frame import first_frame

    interval_s, notice = interval_of(args.interval)
    if args.record:
        notice = "  ".join(filter(None, (tr("recording to {path}", path=args.record), notice)))
    options = replace(
        screen_options(args, os.environ), ring_dir=args.dir, interval_s=interval_s, notice=notice
    )
    with first_frame(options):
        return open_screen(options)


def interval_of(asked_s: float | None) -> tuple[float | None, str]:
    """Seconds between two looks and, where that is not what was asked for, why. Raises ValueRangeError."""
    if asked_s is None:
        return None, ""
    if not 0 < asked_s <= LONGEST_S:
        raise ValueRangeError(f"--interval {asked_s:g} is not in 0.1 to {LONGEST_S}", "--interval 0.5")
    if asked_s < SHORTEST_S:
        return SHORTEST_S, tr(
            "--interval {asked}: asked more often than every 0.1 s, drivers cost the job", asked=asked_s
        )
    return asked_s, ""


def _once(args: Namespace, rings: tuple[ProcessRing, ...]) -> int:
    """One look at every job, or at that of some rings, in the form that was asked for."""
    if args.record:
        raise ValueRangeError(tr("--record {path} keeps on looking: without --once", path=args.record))
    snapshot = only(_look(args.dir), rings) if rings else _look(args.dir)
    if args.csv or args.jsonl:
        return export(args, iter((snapshot,)))
    if args.json:
        from scaletui_engine.live.contract import contract

        print_json(contract(snapshot))
    else:
        if rings and (whose := relation(args.pid, rings)):
            print(whose)
        _print(snapshot, args)
    return 0


def _look(folder: str | None) -> Snapshot:
    """What is there. Raises ScenarioError where the folder that was named is none, or somebody else's."""
    from scaletui.live.watcher import Watcher

    watcher = Watcher(folder)
    try:
        snapshot = watcher.look()
    finally:
        watcher.close()
    for place in snapshot.places:
        if folder is not None and place.fault is not None:
            raise ScenarioError(place.detail or f"{place.path}: {place.fault}")
    return snapshot


def _print(snapshot: Snapshot, args: Namespace) -> None:
    from scaletui.view.live_report import report_rows

    print_rows(report_rows(snapshot, width(NARROWEST), report_pen(args)))


def _clean(args: Namespace) -> int:
    from scaletui.live.clock import now
    from scaletui_engine.live.cleaning import clean
    from scaletui_probe.directory import ring_directory

    folder = ring_directory(args.dir, os.environ)
    done = clean(folder, now(), age_s(args.older_than))
    if done.place.fault is not None and done.place.detail:
        print(done.place.detail)
    print(
        ntr(
            "{n} ring removed from {folder}",
            "{n} rings removed from {folder}",
            len(done.removed),
            folder=folder,
        )
    )
    kept = tr(
        "kept: {running} of running jobs, {young} of jobs that ended less than {age} ago, {foreign} not ours",
        running=done.running, young=done.young, foreign=done.foreign, age=args.older_than,
    )  # fmt: skip
    print(kept)
    return 0


def age_s(text: str, option: str = "--older-than") -> float:
    """Seconds of "30m", "12h" or "7d". Raises ParseError."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise ParseError(tr("{option} {text} is no age", option=option, text=text), f"{option} 7d")
    return float(int(match[1]) * _SECONDS[match[2]])
