"""Why a recording cannot be read, written or gone on with."""

from __future__ import annotations

from scaletui_engine.errors import ScenarioError


class RecordingError(ScenarioError):
    """One line that says which file, what is wrong with it and the numbers behind that."""


class DamageError(Exception):
    """Bytes or values that no recorder has written; `str()` is what is wrong."""
