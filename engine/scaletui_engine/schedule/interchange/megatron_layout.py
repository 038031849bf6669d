"""Megatron-LM's --pipeline-model-parallel-layout: which layers each stage holds, as one string.

Grammar (megatron/core/transformer/pipeline_parallel_layer_layout.py): stages are separated by "|", and hold
E embedding, t decoder layer, m multi-token prediction, L loss; "(...)*n" repeats a group, "x*n" a letter;
commas and blanks are only for people. A stage may be empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from scaletui_engine.errors import DivisibilityError, ParseError

MAX_LETTERS: Final = 100_000
"""Letters that a layout may expand to."""

_GROUP: Final = re.compile(r"\(([^()]*)\)\*(\d{1,6})")
_LETTER: Final = re.compile(r"([EtmL])\*(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Layout:
    """Stages in the order of the model: stage index = virtual stage x pipeline size + pipeline rank."""

    stages: tuple[str, ...]
    """The letters of each stage, expanded."""

    def count(self, letter: str) -> int:
        """How many of a letter the model has: count("t") is its decoder layers."""
        return sum(stage.count(letter) for stage in self.stages)

    @property
    def layers(self) -> tuple[int, ...]:
        """Decoder layers of every stage."""
        return tuple(stage.count("t") for stage in self.stages)

    def __str__(self) -> str:
        *front, last = map(_short, self.stages)
        return "".join(_repeated(stage, len(list(run))) for stage, run in groupby(front)) + last


def parse_layout(text: str) -> Layout:
    """Raises ParseError with the column of what is not a layout."""
    plain = re.sub(r"[,\s]", "", text)
    expanded = _expand(_expand(plain, _GROUP), _LETTER)
    if stray := re.search(r"[^EtmL|]", expanded):
        column = text.find(stray[0]) + 1
        raise ParseError(
            f"layout, column {column}: {stray[0]!r} in {text[:60]!r} is none of E t m L | (..)*n x*n"
        )
    layout = Layout(tuple(expanded.split("|")))
    _check_ends(layout, text)
    return layout


def layout_of(layers: tuple[int, ...]) -> Layout:
    """The layout of given decoder layers a stage: embedding first, loss last."""
    stages = ["t" * count for count in layers]
    stages[0] = "E" + stages[0]
    stages[-1] += "L"
    return Layout(tuple(stages))


def require_ranks(layout: Layout, ranks: int) -> int:
    """Chunks a rank. Raises DivisibilityError when the ranks do not divide the stages."""
    if ranks < 1 or len(layout.stages) % ranks:
        raise DivisibilityError(
            f"layout has {len(layout.stages)} stages, not a multiple of {ranks} pipeline ranks"
        )
    return len(layout.stages) // ranks


def require_layers(layout: Layout, layers: int) -> None:
    """Raises DivisibilityError when the layout holds another number of layers than the model."""
    if layout.count("t") != layers:
        raise DivisibilityError(
            f"layout holds {layout.count('t')} decoder layers, but the model has {layers}"
        )


def _expand(text: str, pattern: re.Pattern[str]) -> str:
    def repeat(match: re.Match[str]) -> str:
        if len(match[1]) * int(match[2]) > MAX_LETTERS:
            raise ParseError(f"layout {match[0][:40]!r} expands to more than {MAX_LETTERS} letters")
        return match[1] * int(match[2])

    return pattern.sub(repeat, text)


def _check_ends(layout: Layout, text: str) -> None:
    for letter, stage, word in (("E", layout.stages[0], "first"), ("L", layout.stages[-1], "last")):
        at_end = stage.startswith("E") if letter == "E" else stage.endswith("L")
        if layout.count(letter) != 1 or not at_end:
            found = f"layout {text[:60]!r} has {layout.count(letter)} {letter}"
            raise ParseError(f"{found}: wanted one, {word} of the {word} stage")


def _short(stage: str) -> str:
    return "".join(
        f"{letter}*{n}" if (n := len(list(run))) > 2 else letter * n for letter, run in groupby(stage)
    )


def _repeated(stage: str, count: int) -> str:
    return f"({stage}|)*{count}," if count > 2 else f"{stage}|" * count
