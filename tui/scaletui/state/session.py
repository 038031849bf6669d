"""What every screen is shown: the editing, the engine's answer, and the line that says what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui.state.answer import Answer
    from scaletui.state.editing import Editing
    from scaletui.view.pen import Pen


@dataclass(frozen=True, slots=True)
class Notice:
    """One line above the keys."""

    text: str = ""
    role: str = "dim"
    """"error" for what was refused, "ok" for what was done."""


@dataclass(frozen=True, slots=True)
class Session:
    """One value from the app down to whatever screen is shown."""

    editing: Editing
    pen: Pen
    answer: Answer | None = None
    """The newest answer; it may still be the one to the scenario before."""
    notice: Notice = Notice()
