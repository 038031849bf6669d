"""`scaletui replay [FILE]`: a recording on the live screen, as text, or as a table."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui.commands.export import add_export_arguments, asks_export, export
from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from scaletui_engine.live.recording.reader import Recording
    from scaletui_engine.live.snapshot import Snapshot

HELP: Final = N_("play a recorded job, as if it ran now")
SHIPPED: Final = Path(__file__).resolve().parents[1] / "demo" / "fsdp.rec"
"""A recorded job of four ranks, for a screen without GPUs or PyTorch."""


def add_arguments(parser: ArgumentParser) -> None:
    """The file, and how it is told without a screen."""
    parser.add_argument("file", nargs="?", metavar="FILE", help=tr("a recording (else one that is shipped)"))
    parser.add_argument("--once", action="store_true", help=tr("print the last look and leave"))
    parser.add_argument("--json", action="store_true", help=tr("print the last look as one JSON object"))
    add_export_arguments(parser)
    parser.add_argument(
        "--columns", action="store_true", help=tr("print what the columns of --csv and --jsonl mean")
    )


def run(args: Namespace) -> int:
    """Print what was asked for, or open the screen. Raises RecordingError for what is no recording."""
    if args.columns:
        from scaletui.view.live_export import column_lines

        sys.stdout.writelines(column_lines())
        return 0
    path = args.file or str(SHIPPED)
    if asks_export(args) or args.once or args.json:
        return _printed(args, path)
    from dataclasses import replace

    from scaletui.commands.screen import open_screen, screen_options
    from scaletui_engine.live.recording.reader import Recording

    Recording(path).close()  # What is wrong with it is said before the screen opens.
    return open_screen(replace(screen_options(args, os.environ), mode="live", replay=path))


def _printed(args: Namespace, path: str) -> int:
    from scaletui_engine.live.recording.reader import Recording

    with Recording(path) as recording:
        if recording.damage:
            print(f"scaletui: {path}: {recording.damage}; {_kept(recording)}", file=sys.stderr)
        if args.csv or args.jsonl:
            return export(args, _looks(recording))
        last = recording.look(recording.looks - 1)
        if args.json:
            from scaletui_engine.live.contract import contract

            print_json(contract(last))
        else:
            from scaletui.view.live_report import report_rows

            print_rows(report_rows(last, width(), report_pen(args)))
    return 0


def _looks(recording: Recording) -> Iterator[Snapshot]:
    return (recording.look(number) for number in range(recording.looks))


def _kept(recording: Recording) -> str:
    return tr("the {n} looks before it are whole", n=recording.looks)
