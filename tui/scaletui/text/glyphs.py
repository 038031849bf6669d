"""Glyph sets: every character that views draw with, each one cell wide, Unicode or plain ASCII."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LETTERS: Final = MappingProxyType({
    "weights": "W", "gradients": "G", "optimizer": "O", "master_weights": "M", "activations": "A",
    "loss": "L", "unsharded": "U", "buffers": "B", "overhead": "X", "others": "P",
    "forward": "F", "input_grad": "I", "weight_grad": "W", "backward": "B",
})  # fmt: skip
"""Part or action -> its letter; parts differ from parts and actions from actions. P is other processes."""

_PATTERNS: Final = MappingProxyType({
    "weights": "█", "gradients": "▒", "optimizer": "▓", "master_weights": "▞", "activations": "░",
    "loss": "▚", "unsharded": "╱", "buffers": "┼", "overhead": "═", "split": "-",
    "reserved": "=", "others": "╬", "free": "·", "idle": "·",
})  # fmt: skip
_PLAIN: Final = MappingProxyType({**dict.fromkeys(_PATTERNS, " "), "split": "-", "reserved": "="})
_ASCII: Final = MappingProxyType({**LETTERS, "split": "-", "reserved": "=", "free": ".", "idle": "."})


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of characters."""

    shades: Mapping[str, str]
    """Part or kind of room -> what fills its bar behind the letter."""
    levels: str
    """From empty to full, for curves of one row."""
    horizontal: str
    vertical: str
    corners: str
    """Top left, top right, bottom left, bottom right."""
    capacity: str
    """The line a bar must not cross."""
    playhead: str
    pointer: str
    """In front of the row that is chosen."""
    mark: str
    """In front of the row that matters most."""
    less: str
    more: str
    """Around a value that arrow keys step."""
    up: str
    down: str
    ellipsis: str
    times: str
    hatch: str
    """Padding, and tiles that nobody owns."""
    partial: str
    ok: str
    bad: str
    doubt: str
    play: str
    pause: str
    blocks: bool = True
    """Whether block elements may be drawn."""
    spells_actions: bool = False
    """Whether a timeline says F or B in letters, because colours may not."""

    def letter(self, role: str) -> str:
        """The letter of a part or action; a blank for other roles."""
        return LETTERS.get(role, " ")

    def segment(self, role: str, width: int) -> str:
        """A stretch of a bar: the role's letter, then its shade to the width; nothing for width 0."""
        shade = self.shades.get(role, " ")
        return (LETTERS.get(role, shade) + shade * (width - 1))[: max(width, 0)]


UNICODE: Final = Glyphs(
    shades=_PLAIN,
    levels=" ▁▂▃▄▅▆▇█",
    horizontal="─",
    vertical="│",
    corners="┌┐└┘",
    capacity="┃",
    playhead="▼",
    pointer="▶",
    mark="●",
    less="‹",
    more="›",
    up="▲",
    down="▼",
    ellipsis="…",
    times="×",
    hatch="╱",
    partial="+",
    ok="✓",
    bad="✗",
    doubt="?",
    play="▶",
    pause="‖",
)
"""Coloured grounds with a letter on each stretch."""

MONO: Final = replace(UNICODE, shades=_PATTERNS, spells_actions=True)
"""Without hues: each part has a pattern of its own."""

ASCII: Final = Glyphs(
    shades=_ASCII,
    levels=" .:-=+*#%@",
    horizontal="-",
    vertical="|",
    corners="++++",
    capacity="|",
    playhead="v",
    pointer=">",
    mark="*",
    less="<",
    more=">",
    up="^",
    down="v",
    ellipsis="~",
    times="x",
    hatch="/",
    partial="+",
    ok="y",
    bad="!",
    doubt="?",
    play=">",
    pause="||",
    blocks=False,
    spells_actions=True,
)
"""Letters all along the bars, and nothing above U+007F."""


def glyphs_for(*, ascii_only: bool, hues: bool) -> Glyphs:
    """The set for a terminal: `hues` is False under a mono theme and under NO_COLOR."""
    if ascii_only:
        return ASCII
    return UNICODE if hues else MONO
