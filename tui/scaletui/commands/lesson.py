"""`scaletui lesson`: the lesson's five tables beside the corrected calculation."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.lesson.tables import MemoryRow

HELP: Final = N_("the lesson's five tables, the corrected ones beside them")


def add_arguments(parser: ArgumentParser) -> None:
    """--plain and --json."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--plain", action="store_true", help=tr("the lesson's own output and nothing else"))
    form.add_argument("--json", action="store_true", help=tr("print one JSON object"))


def run(args: Namespace) -> int:
    """Print the tables, each as soon as it is computed."""
    if args.json:
        print_json(as_json())
        return 0
    from scaletui.view.lesson_report import lesson_tables, plain_lines, report_rows

    pen = report_pen(args)
    for index, table in enumerate(lesson_tables(pen.numbers)):
        if index:
            print()
        if args.plain:
            print("\n".join(plain_lines(table)))
        else:
            print_rows(report_rows(table, width(), pen.glyphs.vertical))
        sys.stdout.flush()
    return 0


def as_json() -> dict[str, Any]:
    """The lesson's figures and the corrected ones, row by row."""
    from scaletui_engine.lesson import tables

    return {
        "data_parallel": [asdict(row) for row in tables.data_parallel_table()],
        "tensor_parallel": [asdict(row) for row in tables.tensor_parallel_table()],
        "pipeline": [asdict(row) for row in tables.pipeline_table()],
        "memory": [_memory(row) for row in tables.memory_table()],
        "precision": [asdict(row) for row in tables.precision_table()],
    }


def _memory(row: MemoryRow) -> dict[str, Any]:
    peak = row.budget.peak
    corrected = {
        "model": row.model,
        "peak_bytes": peak.peak_bytes,
        "needed_bytes": peak.needed_bytes,
        "fits": row.budget.fits,
    }
    return {"lesson": dict(row.lesson), "corrected": corrected}
