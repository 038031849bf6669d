"""Writes looks as CSV or JSON lines: to the standard output, or to a file that was not there before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scaletui.text.language import ntr, tr
from scaletui.view.live_export import KINDS, lines
from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import Snapshot


def add_export_arguments(parser: ArgumentParser) -> None:
    """--csv, --jsonl, --out."""
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--csv", action="store_true", help=tr("print a row for every rank and sample as CSV"))
    kinds.add_argument("--jsonl", action="store_true", help=tr("print the same as an object a line"))
    parser.add_argument("--out", metavar="FILE", help=tr("with --csv or --jsonl: write them to a new file"))


def asks_export(args: Namespace) -> bool:
    """Whether lines were asked for; ValueRangeError where a file was named for none."""
    if args.out and not (args.csv or args.jsonl):
        raise ValueRangeError(tr("--out {path} wants --csv or --jsonl with it", path=args.out), "--csv")
    return bool(args.csv or args.jsonl)


def export(args: Namespace, looks: Iterator[Snapshot]) -> int:
    """Write every line; what exists is not overwritten."""
    kind = KINDS[0] if args.csv else KINDS[1]
    if args.out is None:
        for line in lines(kind, looks):
            sys.stdout.write(line)
        return 0
    try:
        with open(args.out, "x", encoding="utf-8") as file:
            count = sum(bool(file.write(line)) for line in lines(kind, looks))
    except FileExistsError as error:
        raise ValueRangeError(tr("{path} exists already", path=args.out)) from error
    print(ntr("{n} line written to {path}", "{n} lines written to {path}", count, path=args.out))
    return 0
