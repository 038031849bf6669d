"""The roles that a palette gives a look to: the one list behind stylesheets, component classes and views."""

from __future__ import annotations

from typing import Final

PARTS: Final = (
    "weights", "gradients", "optimizer", "master_weights", "activations", "loss", "unsharded", "buffers",
    "overhead",
)  # fmt: skip
"""Parts of memory, in drawing order; overhead is what lies outside the allocator."""

ROOM: Final = ("split", "reserved", "others", "free", "over")
"""The rest of a memory bar: what is left of split segments and segments that are free, both kept by the
allocator; other processes; not used; and beyond the capacity."""

ACTIONS: Final = ("forward", "input_grad", "weight_grad", "backward")
"""Cells of a timeline on an even chunk."""

ODD_ACTIONS: Final = tuple(f"{action}_odd" for action in ACTIONS)
"""The same on an odd chunk: a second shade of the same hue."""

TILES: Final = ("tile", "tile_odd", "padding")
"""Cells of a shard grid: two shades that alternate, and what is stored but belongs to no element."""

FILLED: Final = PARTS + ROOM + ACTIONS + ODD_ACTIONS + TILES
"""Roles that also have a fill: their colour as the ground, with ink on it that can be read."""

STATUS: Final = ("capacity", "ok", "warn", "error")
"""Judgements; each also has its own glyph or word, never colour alone."""

READING: Final = ("text", "dim", "title", "accent", "key", "predicted", "measured")
"""Words and figures."""

MARKS: Final = ("cursor", "selection", "playhead")
"""Where the reader is; each changes the ground or is drawn reversed."""

DRAWING: Final = ("border", "idle", "trace")
"""Lines, empty time, and curves."""


def fill(role: str) -> str:
    """The name of a role's fill: `weights` on its own colour rather than in it."""
    return f"{role}_fill"


FILLS: Final = tuple(fill(role) for role in FILLED)
ROLES: Final = FILLED + STATUS + READING + MARKS + DRAWING + FILLS
"""Every role that a span may name."""
