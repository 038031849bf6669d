"""The unit that moves on every rank, slice by slice: who holds which slice, and who has it all for a while.

rank 0  WUUUUUUU  gradients GGGGGGGG
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.cells import left
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui.view.step_lanes import LABEL, running
from scaletui.view.step_words import data_ranks
from scaletui_engine.sharding.step_frames import Gradient, Weight
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.step_play import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

MOST: Final = 8
"""Ranks that are drawn, and slices: of more, the first."""
_GAP: Final = 4


def rank_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """A row for each of the first ranks: the slices of weights, and of gradients."""
    unit = sight.frame.unit if sight.frame.unit is not None else running(sight)
    ranks = min(data_ranks(sight), MOST)
    if unit is None or ranks < 2 or box.height < ranks + 1:
        return ()
    of_all = data_ranks(sight)
    more = "" if ranks == of_all else tr("the first {n} of {all} ranks", n=ranks, all=of_all)
    name = sight.step.units[unit].name
    title = tr("slices of {unit} on every rank", unit=name)
    head = rule_row(title, box.width, pen, [(box.width, more)] if more else [])
    cell = max(min((box.width - LABEL - _GAP - 24) // (2 * ranks), 6), 1)
    return (head, *(_rank(sight, unit, (rank, ranks), (cell, box.width, pen)) for rank in range(ranks)))


def _rank(sight: Sight, unit: int, place: tuple[int, int], room: tuple[int, int, Pen]) -> Row:
    rank, ranks = place
    cell, width, pen = room
    names = sight.takes.ranks
    label = Span(left(f" {tr('rank')} {names[rank] if names else rank}", LABEL), "dim")
    slices = range(ranks)
    weights = [_weight(sight, unit, each == rank, (cell, pen)) for each in slices]
    gradients = [_gradient(sight, unit, each == rank, (cell, pen)) for each in slices]
    words = Span(left(f"{tr('weights')} ", 12), "dim")
    other = Span(left(f"{' ' * _GAP}{tr('gradients')} ", 12 + _GAP), "dim")
    return fit((label, words, *_apart(weights), other, *_apart(gradients)), width)


def _apart(cells: Sequence[Span]) -> Row:
    """Slices with a hair between them where they are wide enough."""
    return merge(
        part
        for span in cells
        for part in ((Span(span.text[:-1], span.role), Span(" ")) if len(span.text) > 1 else (span,))
    )


def _weight(sight: Sight, unit: int, own: bool, room: tuple[int, Pen]) -> Span:
    state = Weight(sight.frame.weights[unit])
    if state is Weight.OWNED or own:
        return _filled("weights", room)
    return _filled("unsharded", room) if state is not Weight.SHARD else _empty(room)


def _gradient(sight: Sight, unit: int, own: bool, room: tuple[int, Pen]) -> Span:
    state = Gradient(sight.frame.gradients[unit])
    if state is Gradient.NONE or (state is Gradient.SHARD and not own):
        return _empty(room)
    temporary = state in (Gradient.PART, Gradient.WHOLE, Gradient.REDUCING)
    cut = sight.step.strategy.shards_gradients
    return _filled("unsharded" if temporary and (cut or not own) else "gradients", room)


def _filled(part: str, room: tuple[int, Pen]) -> Span:
    cell, pen = room
    return Span(pen.glyphs.segment(part, cell), fill(part))


def _empty(room: tuple[int, Pen]) -> Span:
    cell, pen = room
    return Span(pen.glyphs.shades.get("free", " ") * cell, "free")
