"""The three ways in which PyTorch has written a schedule's cells, and how to tell them apart."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Dialect(StrEnum):
    """Spelling and letters of a file."""

    UNDERSCORE = "underscore"
    """F0_s4: kind, microbatch, stage (pytorch/pytorch#129264, June 2024); B is an input gradient beside W."""
    B_AND_BW = "b-bw"
    """B is the input gradient and BW the whole backward (test artifacts at 68401d25, 2024)."""
    CURRENT = "current"
    """I is the input gradient and B the whole backward."""


@dataclass(frozen=True, slots=True)
class RawCell:
    """A cell as written: one or more words of one or two actions."""

    line: int
    column: int
    """Both count from 1; a column is a cell."""
    text: str

    def refusal(self, why: str) -> ParseError:
        """An error that says where."""
        return ParseError(f"line {self.line}, column {self.column}: {self.text[:40]!r} {why}")


_PAIR: Final = re.compile(r"\((?P<parts>[^()]*)\)\s*OVERLAP_F_B")
_WORD: Final = re.compile(r"(?P<stage>\d{1,9})(?P<kind>[A-Z]+(?:_[A-Z]+)?)(?P<microbatch>\d{0,9})")
_OLD_WORD: Final = re.compile(r"(?P<kind>BW|[FBW])(?P<microbatch>\d{1,9})_s(?P<stage>\d{1,9})")


@dataclass(frozen=True, slots=True)
class Word:
    """One action as written."""

    stage: int
    kind: str
    microbatch: int | None


def words_of(cell: RawCell) -> tuple[Word, ...]:
    """The actions of a cell, letters as written; empty for an empty cell. Raises ParseError."""
    text = cell.text.strip()
    if not text:
        return ()
    if match := _PAIR.fullmatch(text):
        parts = [part.strip() for part in match["parts"].split(";")]
        if len(parts) != 2:
            raise cell.refusal(f"joins {len(parts)} actions, not 2: wanted (0F7;7B3)OVERLAP_F_B")
        return tuple(_word(cell, part) for part in parts)
    return (_word(cell, text),)


def _word(cell: RawCell, text: str) -> Word:
    match = _WORD.fullmatch(text) or _OLD_WORD.fullmatch(text)
    if match is None:
        raise cell.refusal("is not an action: wanted stage, kind and microbatch, as in 2F0")
    number = match["microbatch"]
    return Word(int(match["stage"]), match["kind"], int(number) if number else None)


def dialect_of(cells: Iterable[RawCell]) -> Dialect:
    """The dialect of a file. Raises ParseError when its letters belong to two."""
    texts = [cell for cell in cells if cell.text.strip()]
    letters = {letter for cell in texts for letter in _letters(cell)}
    if any("_s" in cell.text for cell in texts):
        return Dialect.UNDERSCORE
    if "BW" in letters and "I" in letters:
        where = next(cell for cell in texts if "BW" in _letters(cell))
        raise where.refusal(
            "is the whole backward of 2024's letters, but I of today's letters is in the file too"
        )
    return Dialect.B_AND_BW if "BW" in letters or _split_by_count(texts, letters) else Dialect.CURRENT


def _letters(cell: RawCell) -> Iterator[str]:
    return (word.kind for word in words_of(cell))


def _split_by_count(cells: list[RawCell], letters: set[str]) -> bool:
    """B and W but no I, as many B as W on some stage: B is the input gradient."""
    if "I" in letters or not {"B", "W"} <= letters:
        return False
    count = Counter((word.kind, word.stage) for cell in cells for word in words_of(cell))
    return any(kind == "W" and count["B", stage] == number for (kind, stage), number in count.items())


def letters_of(dialect: Dialect, split: bool) -> dict[str, str]:
    """From a dialect's letters to today's; `split`: the file has W for its B."""
    if dialect is Dialect.CURRENT or (dialect is Dialect.UNDERSCORE and not split):
        return {}
    return {"B": "I", "BW": "B"}


def is_split(cells: Iterable[RawCell]) -> bool:
    """Whether a file has W and no I, so that its B are input gradients."""
    letters = {letter for cell in cells for letter in _letters(cell)}
    return "W" in letters and "I" not in letters
