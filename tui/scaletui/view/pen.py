"""What every view draws with."""

from __future__ import annotations

from dataclasses import dataclass, field

from scaletui.text.glyphs import UNICODE, Glyphs
from scaletui.text.numbers import Numbers


@dataclass(frozen=True, slots=True)
class Pen:
    """A glyph set, a way to write numbers, and the size for the back row of a classroom."""

    glyphs: Glyphs = UNICODE
    numbers: Numbers = field(default_factory=Numbers)
    big: bool = False
    """Twice as tall, and half as much of it."""
