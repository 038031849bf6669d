"""The units of a rank lighting up as they are gathered: one step, folded from the samples of many.

── units unsharded: 1 of 5 now, one step from 96 samples ──
                          ▼
   embed      ██▇                              ▃██
 ● layers.0      ▅██                        ▅█▇
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.cells import left, width_of
from scaletui.view.live_unseen import no_plan_text
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row, wrapped
from scaletui_engine.live.wave import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import RankView
    from scaletui_engine.live.wave import Wave

SHORTEST: Final = 4
"""Rows below which nothing is drawn but a title: playhead, a unit, and how often was looked."""
MOST_BINS: Final = 64
FEWEST_BINS: Final = 12
"""A step is cut into more parts the more samples there are to fill them."""
LONGEST_NAME: Final = 22


def wave_rows(rank: RankView, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds: units that do not fit share a row with their neighbours."""
    count = len(rank.plan.groups) if rank.plan is not None else 0
    if not count or not rank.wave or box.height < SHORTEST:
        return (rule_row(tr("units"), box.width, pen), *_nothing(rank, box.width))[: box.height]
    spans = _spans(count, box.height - 3)
    names = [_name(rank, first, last) for first, last in spans]
    label = min(max(map(width_of, names)), LONGEST_NAME, box.width // 3) + 4
    bins = min(max(box.width - label - 2, FEWEST_BINS), MOST_BINS, max(len(rank.wave) // 2, FEWEST_BINS))
    wide = max((box.width - label - 2) // bins, 1)
    wave = folded(rank.wave, count, bins)
    return (
        _title(rank, count, wave, (box.width, pen)),
        fit((Span(" " * label), Span(_playhead(rank, bins, wide, pen), "playhead")), box.width),
        *(
            fit(
                (
                    *_label(rank, span, left(name, label - 4, pen.glyphs.ellipsis), pen),
                    *_unit(wave, span, wide, pen),
                ),
                box.width,
            )
            for name, span in zip(names, spans, strict=True)
        ),
        fit((Span(f" {left(tr('samples'), label - 1)}", "dim"), *_seen(wave, wide, pen)), box.width),
    )


def _nothing(rank: RankView, width: int) -> Iterator[Row]:
    if rank.plan is None:
        yield from wrapped(no_plan_text(rank), width, "dim")
    elif not rank.plan.groups:
        yield from wrapped(tr("nothing is gathered: every rank keeps its weights whole"), width, "dim")
    else:
        yield from wrapped(tr("no sample of the units yet"), width, "dim")


def _spans(count: int, rows: int) -> list[tuple[int, int]]:
    """Half-open ranges of units, one a row, as even as can be."""
    rows = max(min(rows, count), 1)
    return [(row * count // rows, (row + 1) * count // rows) for row in range(rows)]


def _name(rank: RankView, first: int, last: int) -> str:
    """The unit's module; of several the first and the last."""
    assert rank.plan is not None, "units come from a plan"
    groups = rank.plan.groups
    name = groups[first].name or tr("root")
    if last - first == 1:
        return name
    return f"{name} .. {groups[last - 1].name.rpartition('.')[2] or tr('root')}"


def _title(rank: RankView, count: int, wave: Wave, place: tuple[int, Pen]) -> Row:
    width, pen = place
    lit = rank.wave[-1].lit(count)
    seen = sum(wave.seen)
    now = ntr("{lit} of {n} unit unsharded", "{lit} of {n} units unsharded", count, lit=lit)
    past = ntr("one step from {n} sample", "one step from {n} samples", seen)
    has_room = width_of(now) + width_of(past) + 8 < width
    return rule_row(now, width, pen, [(width - 1, past)] if has_room else [])


def _playhead(rank: RankView, bins: int, wide: int, pen: Pen) -> str:
    """Where in a step the newest sample was taken."""
    phase = rank.wave[-1].phase
    return (
        "" if phase is None else " " * (min(int(phase * bins), bins - 1) * wide) + pen.glyphs.playhead * wide
    )


def _label(rank: RankView, span: tuple[int, int], name: str, pen: Pen) -> Row:
    """Marked while the newest sample shows one of its units gathered."""
    lit = any(rank.wave[-1].is_lit(unit) for unit in range(*span))
    return (Span(f" {pen.glyphs.mark if lit else ' '} {name} ", "unsharded" if lit else "dim"),)


def _unit(wave: Wave, span: tuple[int, int], wide: int, pen: Pen) -> Row:
    """How often in each part of a step the unit was gathered, of the times it was looked at."""
    steps = len(pen.glyphs.levels) - 1
    shares = [
        max(wave.lit[unit][place] for unit in range(*span)) / seen if seen else 0.0
        for place, seen in enumerate(wave.seen)
    ]
    return merge(Span(pen.glyphs.levels[_level(share, steps)] * wide, "unsharded") for share in shares)


def _seen(wave: Wave, wide: int, pen: Pen) -> Row:
    most, steps = max(wave.seen, default=0), len(pen.glyphs.levels) - 1
    levels: Sequence[int] = [_level(seen / most, steps) if most else 0 for seen in wave.seen]
    return merge(Span(pen.glyphs.levels[level] * wide, "dim") for level in levels)


def _level(share: float, steps: int) -> int:
    """What was seen at all shows."""
    return max(round(share * steps), 1) if share else 0
