"""Edits of a scenario: set a field, step it to the next valid value, list what is valid."""

from scaletui_engine.edit.fields import FIELDS, parse_value, value_of
from scaletui_engine.edit.set import with_value
from scaletui_engine.edit.step import step, valid_values
from scaletui_engine.edit.typed import edit

__all__ = ["FIELDS", "edit", "parse_value", "step", "valid_values", "value_of", "with_value"]
