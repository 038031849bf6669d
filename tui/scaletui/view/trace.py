"""A curve over samples, the newest at the right, in levels of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from scaletui.view.row import Row, Span, fit, merge
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.text.glyphs import Glyphs
    from scaletui.view.box import Box


@dataclass(frozen=True, slots=True)
class Scale:
    """What the bottom and the top of a curve stand for, and from where on a value is too much."""

    low: float
    high: float
    limit: float | None = None


def trace_rows(values: Sequence[float | None], scale: Scale, box: Box, glyphs: Glyphs) -> tuple[Row, ...]:
    """The curve, exactly as large as the box; a sample that is not there is a gap, not a zero.

    More samples than cells are shown by the largest of each cell, so that no peak is lost.
    """
    columns = [None] * max(box.width - len(values), 0) + peaks(values, box.width)
    return tuple(
        fit(merge(_cell(value, line, scale, (box, glyphs)) for value in columns), box.width)
        for line in range(box.height)
    )


def peaks(values: Sequence[float | None], count: int) -> list[float | None]:
    """At most `count` values: each the largest of its stretch, None where the stretch holds none."""
    if len(values) <= count:
        return list(values)
    edges = [index * len(values) // count for index in range(count + 1)] if count else [0]
    stretches = (values[start:end] for start, end in pairwise(edges))
    return [max((value for value in stretch if value is not None), default=None) for stretch in stretches]


def _cell(value: float | None, line: int, scale: Scale, box_glyphs: tuple[Box, Glyphs]) -> Span:
    box, glyphs = box_glyphs
    if value is None:
        return Span(" ", "trace")
    steps = len(glyphs.levels) - 1
    span = scale.high - scale.low
    filled = (value - scale.low) / span * box.height * steps if span > 0 else 0.0
    # A value at the very bottom still shows that there was a sample.
    level = round(filled) - (box.height - 1 - line) * steps
    if line == box.height - 1:
        level = max(level, 1)
    if scale.limit is not None and value > scale.limit and level > 0:
        # On its ground: "over" is reversed where there are no hues, which would turn a block inside out.
        return Span(" " if glyphs.blocks else glyphs.levels[-1], fill("over"))
    return Span(glyphs.levels[min(max(level, 0), steps)], "trace")
