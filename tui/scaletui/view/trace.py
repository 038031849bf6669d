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
    steps = len(glyphs.levels) - 1
    tops = [_top(value, scale, box.height * steps) for value in columns]
    is_over = [scale.limit is not None and value is not None and value > scale.limit for value in columns]
    bases = ((box.height - 1 - line) * steps for line in range(box.height))
    return tuple(fit(_line(tops, is_over, base, glyphs), box.width) for base in bases)


def peaks(values: Sequence[float | None], count: int) -> list[float | None]:
    """At most `count` values: each the largest of its stretch, None where the stretch holds none."""
    if len(values) <= count:
        return list(values)
    edges = [index * len(values) // count for index in range(count + 1)] if count else [0]
    stretches = (values[start:end] for start, end in pairwise(edges))
    return [max((value for value in stretch if value is not None), default=None) for stretch in stretches]


def _top(value: float | None, scale: Scale, most: int) -> int | None:
    """How many eighths of a line a column is high."""
    if value is None:
        return None
    span = scale.high - scale.low
    return round((value - scale.low) / span * most) if span > 0 else 0


def _line(tops: Sequence[int | None], is_over: Sequence[bool], base: int, glyphs: Glyphs) -> Row:
    """The line whose bottom is at that height. At the very bottom a value still shows that there was one."""
    steps, least = len(glyphs.levels) - 1, 0 if base else 1
    if all(top is not None and top >= base + steps for top in tops) and not any(is_over):
        return (Span(glyphs.levels[-1] * len(tops), "trace"),)
    levels = [-1 if top is None else min(max(top - base, least), steps) for top in tops]
    text = "".join(" " if level < 0 else glyphs.levels[level] for level in levels)
    if not any(is_over):
        return (Span(text, "trace"),)
    # On its ground: "over" is reversed where there are no hues, which would turn a block inside out.
    over = " " if glyphs.blocks else glyphs.levels[-1]
    return merge(
        Span(over, fill("over")) if level > 0 and too_much else Span(cell, "trace")
        for cell, level, too_much in zip(text, levels, is_over, strict=True)
    )
