"""Editing the scenario: its history, the chosen field, the text being typed; every step a new value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui.text.refusals import refusal
from scaletui_engine.edit import FIELDS, edit, step, value_of
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario

KEPT: Final = 200
"""Edits that can be taken back."""
FIRST_FIELD: Final = "gpus"
LONGEST: Final = 60
"""Characters of a typed value; no field's value is longer."""


@dataclass(frozen=True, slots=True)
class Editing:
    """The scenario and how it came about."""

    scenario: Scenario
    field: str = FIRST_FIELD
    pending: str | None = None
    """What is being typed into the field; None where nothing is."""
    refusal: str = ""
    """Why the last edit was refused, in the engine's words; the scenario stayed as it was."""
    past: tuple[Scenario, ...] = ()
    future: tuple[Scenario, ...] = ()

    @property
    def can_undo(self) -> bool:
        """Whether an edit can be taken back."""
        return bool(self.past)


def replaced(editing: Editing, scenario: Scenario) -> Editing:
    """The editing with another scenario; the one it had can be brought back."""
    if scenario == editing.scenario:
        return replace(editing, pending=None, refusal="")
    past = (*editing.past, editing.scenario)[-KEPT:]
    if scenario.name == editing.scenario.name:
        # The name described what was edited; what it is now, nobody has named.
        scenario = replace(scenario, name="")
    return replace(editing, scenario=scenario, pending=None, refusal="", past=past, future=())


def stepped(editing: Editing, direction: int) -> Editing:
    """The field at its next (1) or previous (-1) valid value; the same value at the end of the list."""
    return stepped_field(editing, editing.field, direction)


def stepped_field(editing: Editing, field: str, direction: int) -> Editing:
    """The same for a field that need not be the chosen one."""
    return _tried(editing, lambda: step(editing.scenario, field, direction))


def set_field(editing: Editing, field: str, text: str) -> Editing:
    """The field at a value given as text; where it is refused the text stays, so that nothing is lost."""
    tried = _tried(editing, lambda: edit(editing.scenario, field, text))
    return replace(tried, pending=text) if tried.refusal and editing.pending is not None else tried


def moved(editing: Editing, direction: int) -> Editing:
    """The field below or above; the list ends at its ends."""
    place = min(max(FIELDS.index(editing.field) + direction, 0), len(FIELDS) - 1)
    return chosen(editing, FIELDS[place])


def chosen(editing: Editing, field: str) -> Editing:
    """Another field; what was being typed is left."""
    return replace(editing, field=field, pending=None, refusal="")


def opened(editing: Editing) -> Editing:
    """The field is about to be typed, from an empty text."""
    return replace(editing, pending="", refusal="")


def typed(editing: Editing, text: str) -> Editing:
    """More characters; those that cannot be part of a value are left out."""
    if editing.pending is None:
        return editing
    kept = "".join(character for character in text if character.isprintable())
    return replace(editing, pending=(editing.pending + kept)[:LONGEST], refusal="")


def erased(editing: Editing) -> Editing:
    """One character less."""
    return editing if editing.pending is None else replace(editing, pending=editing.pending[:-1], refusal="")


def cancelled(editing: Editing) -> Editing:
    """The field keeps its value."""
    return replace(editing, pending=None, refusal="")


def committed(editing: Editing) -> Editing:
    """What was typed becomes the value; an empty text keeps the old one."""
    text = (editing.pending or "").strip()
    if not text or text == value_text(editing.scenario, editing.field):
        return cancelled(editing)
    return set_field(editing, editing.field, text)


def undone(editing: Editing) -> Editing:
    """The scenario before the last edit."""
    if not editing.past:
        return editing
    *past, last = editing.past
    future = (*editing.future, editing.scenario)
    return replace(editing, scenario=last, pending=None, refusal="", past=tuple(past), future=future)


def redone(editing: Editing) -> Editing:
    """The edit that was taken back, made again."""
    if not editing.future:
        return editing
    *future, last = editing.future
    past = (*editing.past, editing.scenario)
    return replace(editing, scenario=last, pending=None, refusal="", past=past, future=tuple(future))


def value_text(scenario: Scenario, field: str) -> str:
    """The value as it is typed: digits without groups, names as they are."""
    value = value_of(scenario, field)
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _tried(editing: Editing, change: Callable[[], Scenario]) -> Editing:
    try:
        return replaced(editing, change())
    except ScenarioError as error:
        return replace(editing, refusal=refusal(error))
