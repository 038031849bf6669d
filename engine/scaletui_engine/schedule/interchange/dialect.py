"""The three ways in which PyTorch has written a schedule's cells, and how to tell them apart."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ParseError, brief

if TYPE_CHECKING:
    from collections.abc import Sequence


class Dialect(StrEnum):
    """Spelling and letters of a file."""

    UNDERSCORE = "underscore"
    """F0_s4: kind, microbatch, stage (pytorch/pytorch#129264, June 2024); B is an input gradient beside W."""
    B_AND_BW = "b-bw"
    """B is the input gradient and BW the whole backward (test artifacts at 68401d25, 2024)."""
    CURRENT = "current"
    """I is the input gradient and B the whole backward."""


class Word(NamedTuple):
    """One action as written."""

    stage: int
    kind: str
    microbatch: int | None


class Cell(NamedTuple):
    """A cell that is not empty: a named tuple, because a large file has hundreds of thousands."""

    line: int
    column: int
    """Both count from 1; a column is a cell."""
    text: str
    words: tuple[Word, ...]
    """One action, or the two of a pair."""

    def refusal(self, why: str) -> ParseError:
        """An error that says where."""
        return ParseError(f"line {self.line}, column {self.column}: {brief(self.text)} {why}")


_PAIR: Final = re.compile(r"\((?P<parts>[^()]*)\)\s*OVERLAP_F_B")
_WORD: Final = re.compile(r"(\d{1,9})([A-Z]+(?:_[A-Z]+)?)(\d{0,9})")
_OLD_WORD: Final = re.compile(r"(?P<kind>BW|[FBW])(?P<microbatch>\d{1,9})_s(?P<stage>\d{1,9})")


def cell_of(line: int, column: int, text: str) -> Cell:
    """A cell with its actions, letters as written. Raises ParseError."""
    empty = Cell(line, column, text, ())
    parts = [text]
    if text.startswith("("):
        match = _PAIR.fullmatch(text)
        if match is None:
            raise empty.refusal("is not a pair: wanted (0F7;7B3)OVERLAP_F_B")
        parts = [part.strip() for part in match["parts"].split(";")]
        if len(parts) != 2:
            raise empty.refusal(f"joins {len(parts)} actions, not 2: wanted (0F7;7B3)OVERLAP_F_B")
    return Cell(line, column, text, tuple([_word(empty, part) for part in parts]))


def _word(cell: Cell, text: str) -> Word:
    if match := _WORD.fullmatch(text):
        stage, kind, number = match.groups()
        return Word(int(stage), kind, int(number) if number else None)
    if match := _OLD_WORD.fullmatch(text):
        return Word(int(match["stage"]), match["kind"], int(match["microbatch"]))
    raise cell.refusal("is not an action: wanted stage, kind and microbatch, as in 2F0")


def dialect_of(cells: Sequence[Cell]) -> Dialect:
    """The dialect of a file. Raises ParseError when its letters belong to two."""
    count = Counter((word.kind, word.stage) for cell in cells for word in cell.words)
    letters = {kind for kind, _ in count}
    if any("_s" in cell.text for cell in cells):
        return Dialect.UNDERSCORE
    if "BW" in letters and "I" in letters:
        where = next(cell for cell in cells if cell.words[0].kind == "BW" or cell.words[-1].kind == "BW")
        raise where.refusal("is the whole backward of 2024's letters, but I of today's is in the file too")
    split = "I" not in letters and any(
        kind == "W" and count["B", stage] == number for (kind, stage), number in count.items()
    )
    return Dialect.B_AND_BW if "BW" in letters or split else Dialect.CURRENT


def letters_of(dialect: Dialect, cells: Sequence[Cell]) -> dict[str, str]:
    """From a dialect's letters to today's; in the oldest, B is the input gradient only beside W."""
    if dialect is Dialect.CURRENT:
        return {}
    split = any(word.kind == "W" for cell in cells for word in cell.words)
    if dialect is Dialect.UNDERSCORE and not split:
        return {}
    return {"B": "I", "BW": "B"}
