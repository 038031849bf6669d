"""Typing the name of a file: a line of text, and what its place already holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


LONGEST: Final = 80
"""Characters of a suggestion before its ending: file systems end at 255 bytes."""


@dataclass(frozen=True, slots=True)
class Naming:
    """What was typed, and what stands in the way."""

    text: str
    kinds: tuple[str, ...] = ()
    """Endings that a name may have; empty for any."""
    warning: str = ""
    """Why Enter did not save; the next one saves over what is there."""
    asks_again: bool = False
    """Whether the file exists and one more Enter writes over it."""

    @property
    def is_known_kind(self) -> bool:
        """Whether the name ends as it may."""
        return not self.kinds or self.text.strip().endswith(self.kinds)


def suggested_name(scenario: Scenario, ending: str = ".toml") -> str:
    """A file name that says what is inside."""
    stem = scenario.name or f"{scenario.model.id}-{scenario.cluster.gpus}x-{scenario.cluster.gpu.id}"
    safe = "".join(character if character.isalnum() or character in "-_." else "-" for character in stem)
    return safe[:LONGEST] + ending


def typed(naming: Naming, text: str) -> Naming:
    """More characters."""
    kept = "".join(character for character in text if character.isprintable())
    return Naming(naming.text + kept, naming.kinds)


def erased(naming: Naming) -> Naming:
    """One character less."""
    return Naming(naming.text[:-1], naming.kinds)


def emptied(naming: Naming) -> Naming:
    """No character."""
    return Naming("", naming.kinds)


def warned(naming: Naming, warning: str, *, asks_again: bool = False) -> Naming:
    """Something stands in the way."""
    return replace(naming, warning=warning, asks_again=asks_again)
