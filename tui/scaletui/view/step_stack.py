"""Parts of memory one on the other in whole rows: what is there is seen, and what stays the same looks so."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

from scaletui.view.row import Row, Span, fit, merge
from scaletui_engine.sharding.step_frames import HELD
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

STACK: Final = ("weights", "optimizer", "master_weights", "buffers", "gradients", "unsharded")
"""From the bottom: what never changes first."""
Base = tuple["int | None", ...]
"""Rows of the parts whose bytes never change; None of those that do."""
_PLACES: Final = tuple(HELD.index(name) for name in STACK)


def stacked_rows(columns: Sequence[tuple[int, ...]], box: Box, pen: Pen) -> list[Row]:
    """The parts of `HELD` in every column, the largest sum as high as the box; the highest cell rises by
    its level.
    """
    cell = max(map(sum, columns)) / box.height
    stacks = [tuple(parts[place] for place in _PLACES) for parts in columns]
    heights = {stack: ceil(sum(stack) / cell - 1e-9) for stack in stacks}
    base = steady(list(heights.items()), cell)
    drawn = {stack: _drawn(stack, base, (rows, cell), pen) for stack, rows in heights.items()}
    lines = [[drawn[stack].get(line, Span(" ", "text")) for stack in stacks] for line in range(box.height)]
    return [fit(merge(line), box.width) for line in reversed(lines)]


def steady(columns: Sequence[tuple[tuple[int, ...], int]], cell: float) -> Base:
    """Rows of the parts that have the same bytes in every column, of `cell` bytes each; None of the others.

    `columns` are stacks with the rows that they reach. Every part has a row where the lowest column leaves
    one for it and one for all that change.
    """
    first = columns[0][0]
    same = [all(stack[place] == size for stack, _ in columns) for place, size in enumerate(first)]
    found, reached = [], 0
    for size, stays in zip(first, same, strict=True):
        before, reached = reached, reached + (size if stays else 0)
        rows = round(reached / cell) - round(before / cell)
        found.append(max(rows, 1) if stays and size else 0)
    moving = (
        rows - sum(1 for size, stays in zip(stack, same, strict=True) if size and not stays)
        for stack, rows in columns
    )
    least = min(len([size for size in found if size]), min(reach for _, reach in columns) - 1)
    squeezed = _squeezed(found, first, max(min(moving), least, 1))
    return tuple(held if stays else None for held, stays in zip(squeezed, same, strict=True))


def shares(stack: tuple[int, ...], rows: int, base: Base) -> tuple[int, ...]:
    """Rows of every part of one column: the steady ones as they are, the others as their bytes are."""
    still = tuple(held or 0 for held in base)
    moving = tuple(size if held is None else 0 for size, held in zip(stack, base, strict=True))
    room, total = rows - sum(still), sum(moving)
    if room <= 0 or not total:
        # A sliver above steady parts would come and go with the others: they end in a whole row.
        return still if any(still) else _topped(still, rows)
    wished = [max(round(size / total * room), 1) if size else 0 for size in moving]
    squeezed = _squeezed(wished, moving, room)
    return _topped(tuple(map(sum, zip(still, squeezed, strict=True))), rows)


def _squeezed(rows: Sequence[int], sizes: Sequence[int], room: int) -> tuple[int, ...]:
    """No more than the room: the highest gives a row; where all have one, the smallest part goes."""
    found = list(rows)
    while sum(found) > room:
        highest = max(range(len(found)), key=lambda place: (found[place], sizes[place]))
        if found[highest] == 1:
            highest = min((place for place, held in enumerate(found) if held), key=sizes.__getitem__)
        found[highest] -= 1
    return tuple(found)


def _topped(rows: tuple[int, ...], wanted: int) -> tuple[int, ...]:
    """The same with what is left over given to the part on top."""
    top = max((place for place, held in enumerate(rows) if held), default=0)
    more = max(wanted - sum(rows), 0)
    return (*rows[:top], rows[top] + more, *rows[top + 1 :])


def _drawn(stack: tuple[int, ...], base: Base, reach: tuple[int, float], pen: Pen) -> dict[int, Span]:
    """Line, counted from the bottom -> its cell; the highest is as full as the stack reaches into it."""
    cell, rows = reach[1], shares(stack, reach[0], base)
    names = [name for name, held in zip(STACK, rows, strict=True) for _ in range(held)]
    steps, glyphs = len(pen.glyphs.levels) - 1, pen.glyphs
    found = {line: Span(glyphs.shades.get(name, " "), fill(name)) for line, name in enumerate(names)}
    level = round((sum(stack) - (len(names) - 1) * cell) / cell * steps)
    if names and level < steps and rows != tuple(held or 0 for held in base):
        top = len(names) - 1
        if glyphs.blocks:
            found[top] = Span(glyphs.levels[max(level, 1)], names[top])
        elif 2 * level < steps:
            del found[top]
    return found
