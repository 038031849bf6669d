"""What a command prints: rows of a view as plain text, or one JSON object."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Final

from scaletui.text.language import language
from scaletui.text.numbers import numbers_for

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

WIDTHS: Final = (60, 120)
"""Reports are never narrower or wider; 80 where no terminal says how wide it is."""


def width(narrowest: int = WIDTHS[0]) -> int:
    """Cells of a report, which may say that it can do with fewer."""
    return max(narrowest, min(WIDTHS[1], shutil.get_terminal_size((80, 24)).columns))


def report_pen(args: Namespace) -> Pen:
    """A pen without colours: patterns, or letters where ASCII was asked for or is all that can be written."""
    from scaletui.text.glyphs import glyphs_for
    from scaletui.view.pen import Pen

    plain = args.ascii or "utf" not in (sys.stdout.encoding or "").lower()
    return Pen(glyphs_for(ascii_only=plain, hues=False), numbers_for(language()))


def print_rows(rows: Iterable[Row]) -> None:
    """The text of rows, without the blanks at their ends."""
    for row in rows:
        print("".join(span.text for span in row).rstrip())


def print_json(value: object) -> None:
    """One object, in the C locale whatever the language."""
    print(json.dumps(value, indent=1))
