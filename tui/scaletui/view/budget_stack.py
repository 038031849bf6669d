"""A step's memory against time with its parts one on the other: what stays the same lies at the bottom.

        ▁▂▄▆█L▇▆▅▄▂▁                 activations and loss come and go
  ▁▃▅▇A████████████████▇▇▆▅▄▄▄
O██████████████████████████████████
W██████████████████████████████████  weights and optimizer states stay
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from math import ceil
from typing import TYPE_CHECKING, Final

from scaletui.view.row import Row, Span, fit, merge
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.text.glyphs import Glyphs
    from scaletui.view.box import Box
    from scaletui.view.trace import Scale
    from scaletui_engine.memory.budget import Parts

ORDER: Final = (
    "weights", "master_weights", "optimizer", "buffers", "gradients", "unsharded", "activations", "loss",
)  # fmt: skip
"""From the bottom."""
_LETTERED: Final = 3
"""Cells of the shortest stretch that has room for its letter."""
_Cell = tuple[str, int]
"""Role and level of a cell; no role where nothing is."""


@dataclass(frozen=True, slots=True)
class _Reach:
    """Bytes of a cell, bytes from which on it is too much, and the levels of a full cell."""

    cell: float
    limit: float
    steps: int


def stack_rows(columns: Sequence[Parts], scale: Scale, box: Box, glyphs: Glyphs) -> tuple[Row, ...]:
    """The parts of every column, exactly as large as the box; each part has its letter once.

    `columns` are no more than the box is wide; the scale begins at 0. What rises above its limit is "over".
    A part that is nowhere the largest of its cell is not seen.
    """
    steps = len(glyphs.levels) - 1
    reach = _Reach(scale.high / box.height, scale.high if scale.limit is None else scale.limit, steps)
    drawn = {parts: _cells(parts, reach) for parts in set(columns)}
    lines = [
        [drawn[parts][line] if line < len(drawn[parts]) else ("", 0) for parts in columns]
        for line in reversed(range(box.height))
    ]
    letters = _letters(lines, steps)
    return tuple(fit(_line(cells, letters.get(at, {}), glyphs), box.width) for at, cells in enumerate(lines))


def _cells(parts: Parts, reach: _Reach) -> list[_Cell]:
    """One column from the bottom: the part that fills most of each cell, and how full the cell is."""
    cell, found = reach.cell, []
    tops = list(accumulate((getattr(parts, name) for name in ORDER), initial=0))
    pieces = list(zip(ORDER, pairwise(tops), strict=True))
    for line in range(max(ceil(round(tops[-1] / cell * reach.steps) / reach.steps), 1)):
        low, high = line * cell, (line + 1) * cell
        role = max(pieces, key=lambda piece: min(piece[1][1], high) - max(piece[1][0], low))[0]
        level = min(max(round((tops[-1] - low) / cell * reach.steps), 1), reach.steps)
        found.append(("over" if min(tops[-1], high) > reach.limit else role, level))
    return found


def _letters(lines: list[list[_Cell]], steps: int) -> dict[int, dict[int, str]]:
    """Line -> column -> part whose letter stands there: at the start of its longest stretch of full cells."""
    longest: dict[str, tuple[int, int, int]] = {}
    for at, cells in enumerate(lines):
        start = 0
        for (role, level), stretch in groupby(cells):
            length = len(list(stretch))
            least = longest[role][0] + 1 if role in longest else _LETTERED
            if role in ORDER and level == steps and length >= least:
                longest[role] = (length, at, start)
            start += length
    places: dict[int, dict[int, str]] = {}
    for role, (_, at, start) in longest.items():
        places.setdefault(at, {})[start] = role
    return places


def _line(cells: list[_Cell], letters: dict[int, str], glyphs: Glyphs) -> Row:
    return merge(
        Span(glyphs.letter(role), fill(role)) if column in letters else _span(role, level, glyphs)
        for column, (role, level) in enumerate(cells)
    )


def _span(role: str, level: int, glyphs: Glyphs) -> Span:
    """A full cell is the part's ground; one on top of a column is as full as the column reaches into it."""
    steps = len(glyphs.levels) - 1
    if not role:
        return Span(" ")
    if level < steps and role != "over" and glyphs.blocks:
        return Span(glyphs.levels[level], role)
    if 2 * level < steps:
        return Span(" ")
    return Span(glyphs.shades.get(role, " "), fill(role))
