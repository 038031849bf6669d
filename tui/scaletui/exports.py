"""What the app writes to files: the scenario as TOML, the budget as Markdown, JSON or a picture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from scaletui.commands.memory import as_json
from scaletui.view.budget_markdown import budget_markdown
from scaletui_engine.scenario_file import dump

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.answer import Answer
    from scaletui.view.pen import Pen

KINDS: Final = (".md", ".json", ".svg", ".toml")
"""Endings of the files that a budget can be exported to."""


def export_text(path: str, answer: Answer, pen: Pen, picture: Callable[[], str]) -> str:
    """The text for a path, by its ending; `picture` draws the screen as SVG."""
    if path.endswith(".svg"):
        return picture()
    if path.endswith(".json"):
        return json.dumps(as_json(answer.scenario, answer.budget), indent=2) + "\n"
    return dump(answer.scenario) if path.endswith(".toml") else budget_markdown(answer, pen)
