"""What a view hands to the canvas: rows of spans, each span a text and the role that colours it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Span:
    """A run of cells in one style."""

    text: str
    role: str = "text"
    """A role of `scaletui_themes` ("weights", "forward", "over"); the theme decides what it looks like."""


Row: TypeAlias = tuple[Span, ...]
"""One line of the screen, at most 8 spans where it moves; no wider than the view was asked for."""
