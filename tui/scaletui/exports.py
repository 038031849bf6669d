"""What the app writes to files: the scenario as TOML, the budget as Markdown, JSON or a picture."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Final

from scaletui.commands.memory import as_json
from scaletui.commands.memory_json import offload_json
from scaletui.view.budget_markdown import budget_markdown
from scaletui.view.cells import width_of
from scaletui_engine.scenario_file import dump

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.answer import Answer
    from scaletui.view.pen import Pen

KINDS: Final = (".md", ".json", ".svg", ".toml")
"""Endings of the files that a budget can be exported to."""

_INDENTED: Final = re.compile(r'x="([\d.]+)"([^>]*) textLength="([\d.]+)"([^>]*)>((?:&#160;)+)([^<]+)<')


def export_text(path: str, answer: Answer, pen: Pen, picture: Callable[[], str]) -> str:
    """The text for a path, by its ending; `picture` draws the screen as SVG."""
    if path.endswith(".svg"):
        return unindented(picture())
    if path.endswith(".json"):
        keys = as_json(answer.scenario, answer.budget) | offload_json(answer.scenario)
        return json.dumps(keys, indent=2) + "\n"
    return dump(answer.scenario) if path.endswith(".toml") else budget_markdown(answer, pen)


def unindented(svg: str) -> str:
    """The picture with every text placed where its letters begin: librsvg leaves out blanks in front."""
    return _INDENTED.sub(_moved, svg)


def _moved(found: re.Match[str]) -> str:
    x, between, length, rest, blanks, text = found.groups()
    cells = len(unescape(blanks))
    indent = cells * float(length) / (cells + width_of(unescape(text)))
    x, length = f"{float(x) + indent:.1f}", f"{float(length) - indent:.1f}"
    return f'x="{x}"{between} textLength="{length}"{rest}>{text}<'
