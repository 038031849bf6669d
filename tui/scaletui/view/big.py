"""Figures three lines tall, for the back row: 3 x 5 dots in half blocks, or strokes in plain ASCII.

█▀█ ▀▀█    _   _
█ █ ▀▀█   | |  _|
▀▀▀ ▀▀▀   |_|  _|
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.view.cells import width_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scaletui.text.glyphs import Glyphs

BIG_HEIGHT: Final = 3
"""Lines of a big figure."""

_DOTS: Final = MappingProxyType({
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757",
    "7": "71122", "8": "75757", "9": "75717", "-": "00700", "+": "02720", "%": "51245", "/": "11244",
})  # fmt: skip
"""Five rows of three dots, each row an octal digit."""
_NARROW: Final = MappingProxyType({".": "00001", ",": "00011", ":": "01010", " ": "00000"})
"""The same with one dot a row."""
_STROKES: Final = MappingProxyType({
    "0": " _ | ||_|", "1": "     |  |", "2": " _  _||_ ", "3": " _  _| _|", "4": "   |_|  |",
    "5": " _ |_  _|", "6": " _ |_ |_|", "7": " _   |  |", "8": " _ |_||_|", "9": " _ |_| _|",
    "-": "    _    ", "+": "   _|_ | ", "/": "  /  / / ", "%": "o / / / o",
    ".": "  .", ",": "  ,", ":": " ..", " ": "   ",
})  # fmt: skip
"""Three lines of strokes, one after the other."""
_HALVES: Final = " ▀▄█"


def big_text(text: str, glyphs: Glyphs) -> tuple[str, str, str]:
    """The text in big figures; a character without one stands small on the bottom line."""
    font = _BLOCK_FONT if glyphs.blocks else _STROKE_FONT
    figures = [_figure(character, font) for character in text]
    top, middle, bottom = ("".join(lines) for lines in zip(*figures, strict=True)) if text else ("", "", "")
    return top, middle, bottom


def big_width(text: str) -> int:
    """Cells that `big_text` takes, in either font."""
    return sum(width_of(_figure(character, _STROKE_FONT)[0]) for character in text)


def _figure(character: str, font: Mapping[str, tuple[str, str, str]]) -> tuple[str, str, str]:
    blank = " " * width_of(character)
    return font.get(character, (blank, blank, character))


def _blocks(rows: str, width: int) -> tuple[str, str, str]:
    dots = [format(int(row), f"0{width}b") + "0" for row in rows + "0"]
    pairs = zip(dots[::2], dots[1::2], strict=True)
    top, middle, bottom = (
        "".join(_HALVES[int(a) + 2 * int(b)] for a, b in zip(upper, lower, strict=True))
        for upper, lower in pairs
    )
    return top, middle, bottom


def _strokes(rows: str) -> tuple[str, str, str]:
    width = len(rows) // BIG_HEIGHT
    top, middle, bottom = (rows[line * width : (line + 1) * width] + " " for line in range(BIG_HEIGHT))
    return top, middle, bottom


_BLOCK_FONT: Final = {
    **{character: _blocks(rows, 3) for character, rows in _DOTS.items()},
    **{character: _blocks(rows, 1) for character, rows in _NARROW.items()},
}
_STROKE_FONT: Final = {character: _strokes(rows) for character, rows in _STROKES.items()}
