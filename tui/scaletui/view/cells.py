"""The width of text in terminal cells, and padding and cropping by it."""

from __future__ import annotations

from functools import cache, lru_cache
from unicodedata import category, combining, east_asian_width


@lru_cache(8192)
def width_of(text: str) -> int:
    """Cells that text takes: 2 for East Asian wide characters, 0 for combining ones and controls."""
    return len(text) if text.isascii() and text.isprintable() else sum(map(_width, text))


@lru_cache(8192)
def is_one_cell_each(text: str) -> bool:
    """Whether every character takes exactly one cell."""
    return (text.isascii() and text.isprintable()) or all(_width(character) == 1 for character in text)


def crop(text: str, width: int, ellipsis: str = "") -> str:
    """As much of the text as fits; where something is lost and there is an ellipsis, it ends in that."""
    if width_of(text) <= width:
        return text
    room = width - width_of(ellipsis)
    if room < 0:
        return ""
    kept = 0
    for index, character in enumerate(text):
        kept += _width(character)
        if kept > room:
            return text[:index] + ellipsis
    return text


def left(text: str, width: int, ellipsis: str = "") -> str:
    """The text at the left of exactly that many cells."""
    cropped = crop(text, width, ellipsis)
    return cropped + " " * (width - width_of(cropped))


def right(text: str, width: int, ellipsis: str = "") -> str:
    """The text at the right of exactly that many cells."""
    cropped = crop(text, width, ellipsis)
    return " " * (width - width_of(cropped)) + cropped


def centre(text: str, width: int) -> str:
    """The text in the middle of exactly that many cells, nearer the left where it does not divide."""
    cropped = crop(text, width)
    before = (width - width_of(cropped)) // 2
    return left(" " * before + cropped, width)


@cache
def _width(character: str) -> int:
    if combining(character) or category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
