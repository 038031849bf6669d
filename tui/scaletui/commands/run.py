"""`scaletui run -- CMD...`: a training command with the probe in it and no change to its code."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping

HELP: Final = N_("run a training command with the probe in it")

MODES: Final = ("thread", "hooks")
LONGEST_S: Final = 3600
"""Seconds between two samples, at most: what is older says nothing of a job."""


def add_arguments(parser: ArgumentParser) -> None:
    """--dir, --micro-batch, --seq, --mode, --interval and the command after "--"."""
    parser.add_argument("--dir", metavar="D", help=tr("folder of the rings"))
    parser.add_argument("--micro-batch", type=int, metavar="B", help=tr("samples a rank takes at a time"))
    parser.add_argument("--seq", type=int, metavar="S", help=tr("tokens in a sample"))
    parser.add_argument("--mode", choices=MODES, help=tr("sample in a thread, or in optimizer steps alone"))
    parser.add_argument(
        "--interval", type=float, metavar="S", help=tr("seconds between samples (0.1 or more)")
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="-- CMD", help=tr("the command to run"))


def run(args: Namespace) -> int:
    """Become the command: its exit code, its signals and its terminal are then its own, and nothing of
    ours stays."""
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words or not words[0]:
        raise ValueRangeError(
            tr("0 words after run --"), "scaletui run -- torchrun --nproc-per-node 2 train.py"
        )
    environ = environment(args, os.environ)
    _warn(environ)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(words[0], words, environ)
    except OSError as error:
        raise OSError(error.errno, error.strerror, words[0]) from error


def _warn(environ: Mapping[str, str]) -> None:
    """Say so where a file server would come between two steps of the job."""
    from scaletui.commands import file_server
    from scaletui_probe.directory import VARIABLE

    folder = environ[VARIABLE]
    if kind := file_server.served_by(folder):
        text = tr(
            "{folder} is on {kind}: a file server that hangs would hold the job up; --dir names another",
            folder=folder, kind=kind,
        )  # fmt: skip
        print(f"scaletui: {text}", file=sys.stderr)


def environment(args: Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment in which every Python of the command arms the probe; the folder of the rings exists
    then."""
    import scaletui_probe
    from scaletui_probe import settings
    from scaletui_probe.directory import VARIABLE, open_directory, ring_directory

    folder = ring_directory(args.dir, environ)
    os.close(open_directory(folder, create=True))
    autostart = str(Path(scaletui_probe.__file__).resolve().parent / "autostart")
    paths = [autostart, *filter(None, [environ.get("PYTHONPATH")])]
    asked = {
        settings.MODE: args.mode,
        settings.INTERVAL: _checked("--interval", args.interval, settings.SHORTEST_INTERVAL_S, LONGEST_S),
        settings.MICRO_BATCH: _checked("--micro-batch", args.micro_batch, 1),
        settings.SEQUENCE: _checked("--seq", args.seq, 1),
    }
    given = {name: str(value) for name, value in asked.items() if value is not None}
    return {**environ, "PYTHONPATH": os.pathsep.join(paths), VARIABLE: folder, **given}


def _checked(option: str, value: float | None, least: float, most: float = float("inf")) -> float | None:
    if value is not None and value > most:
        raise ValueRangeError(f"{option} {value:g} > {most:g}", f"{option} {most:g}")
    if value is not None and not value >= least:
        raise ValueRangeError(f"{option} {value:g} < {least:g}", f"{option} {least:g}")
    return value
