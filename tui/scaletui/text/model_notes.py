"""What a reader must know of a model that came from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.printable import printable
from scaletui.text.refusals import translated
from scaletui_engine.model_table import is_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.model import Model


def model_notes(model: Model) -> Iterator[str]:
    """The sentences of its note, in the language in force; none for a model of the catalogue."""
    if model.note and not is_of_catalogue(model):
        yield from (printable(translated(sentence)) for sentence in model.note.split("; "))
