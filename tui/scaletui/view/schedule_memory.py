"""The memory of a rank beneath its lane: live activations over time, against what fits."""

from __future__ import annotations

from math import floor
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.cells import left
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.schedule_times import plain
from scaletui.view.trace import Scale, trace_rows

if TYPE_CHECKING:
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen

_QUIET: Final = MappingProxyType({"trace": "dim"})
"""The hue of a curve is that of a forward pass: strips keep out of the lanes' colours."""
_COUNTED: Final = 1000
"""Room for more microbatches than that is not counted."""
_FAR: Final = 2.0
"""A cap beyond this many peaks is told by its number alone."""


def figure(sight: Sight, rank: int, pen: Pen) -> str:
    """Peak and cap in microbatches: "mem 4/9"; the peak alone where the cap is not known, or far away."""
    peak = f"{tr('mem')} {plain(sight.own.peaks[rank], pen, 1)}"
    cap = floor(sight.caps[rank]) if sight.caps else _COUNTED
    return f"{peak}/{cap}" if cap < _COUNTED else peak


def strip_rows(sight: Sight, rank: int, height: int, room: tuple[int, int, Pen]) -> tuple[Row, ...]:
    """The curve of one rank, all ranks on one scale, with its figure in front."""
    label, width, pen = room
    columns = max(width - label, 1)
    levels = sight.own.chart.levels(sight.stretch(columns), rank)
    cap = sight.caps[rank] if sight.caps else None
    top = scale_top(sight)
    values = [level if level > 0 else None for level in levels]
    rows = [
        tuple(Span(span.text, _QUIET.get(span.role, span.role)) for span in row)
        for row in trace_rows(values, Scale(0.0, top, cap), Box(columns, height), pen.glyphs)
    ]
    has_line = cap is not None and cap < top and height > 1
    line = height - 1 - floor((cap or 0.0) / top * height) if has_line else None
    is_over = cap is not None and sight.own.peaks[rank] > cap
    names = [f" {figure(sight, rank, pen)}", *([""] * (height - 1))]
    role = "error" if is_over else "dim"
    return tuple(
        fit((Span(left(name, label), role), *(_capped(row, pen) if y == line else row)), width)
        for y, (name, row) in enumerate(zip(names, rows, strict=True))
    )


def scale_top(sight: Sight) -> float:
    """The highest peak, or the lowest cap where that is in reach of it."""
    peak = max(sight.own.peaks)
    near = [cap for cap in sight.caps if peak < cap <= _FAR * peak]
    return max([peak, *(cap * 1.05 for cap in near)])


def _capped(row: Row, pen: Pen) -> Row:
    """The line of the cap where the curve leaves room for it."""
    cells = (
        Span(pen.glyphs.horizontal, "capacity")
        if character == " " and span.role == "dim"
        else Span(character, span.role)
        for span in row
        for character in span.text
    )
    return merge(cells)
