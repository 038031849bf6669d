"""Many ranks as a map of cells, each as full and as coloured as the worst of its ranks is.

── 1,024 ranks, used at the peak ──────────────── 2 ranks a cell ─
    0  ▆▆▆▆▆▆▆▆ ▆▆▆▆▆▆▆▆ ...
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median_low
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.state.live_heat import HeatLayout, Measure, layout_for
from scaletui.text.language import N_, ntr, tr
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.live_compare import compare_height, compare_rows
from scaletui.view.live_ranks import last_word
from scaletui.view.live_skew import skew_rows
from scaletui.view.live_trend import trend_rows
from scaletui.view.live_words import verdict_role, verdict_text
from scaletui.view.row import Row, Span, fit, merge, row_width
from scaletui.view.rule import rule_row
from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.judgement import headroom, held_bytes, is_troubled, used_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import JobView, Moment, RankView

BELOW: Final = 4
"""Rows under the map: the rank that is looked at, the legend, and how far ranks are from each other."""
DEAD: Final = 9
"""More than any level: what has ended otherwise than in order."""
_TOP: Final = 8
_NAMES: Final = MappingProxyType({
    Measure.USED: N_("used at the peak"),
    Measure.HELD: N_("held now, against the median"),
    Measure.STEP_TIME: N_("step time, against the median"),
    Measure.AGE: N_("age of the last record"),
    Measure.STATE: N_("state"),
})  # fmt: skip
_AROUND: Final = ((4, "ok", N_("the median")), (6, "warn", N_("10 % more")), (8, "error", N_("20 % more")))
_LEGENDS: Final = MappingProxyType({
    Measure.USED: ((4, "ok", "50 %"), (7, "warn", "85 %"), (8, "error", "95 %")),
    Measure.HELD: _AROUND,
    Measure.STEP_TIME: _AROUND,
    Measure.AGE: ((1, "ok", N_("fresh")), (5, "warn", "5 s"), (8, "error", "30 s")),
    Measure.STATE: (
        (1, "ok", N_("running")), (5, "warn", N_("running, but ...")), (0, "dim", N_("finished")),
    ),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heat:
    """How much of a cell is filled, 0 to 8, and in which role."""

    level: int
    role: str


_NONE: Final = Heat(0, "dim")
_DEAD: Final = Heat(DEAD, "error")


def heat_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The map of the job's ranks by number, with the one that is looked at lit, and what it says."""
    job, chosen = state_of.job(state), state_of.rank(state)
    if job is None or chosen is None or state.shown is None:
        return ()
    layout = heat_layout(job, box)
    heats = heats_of(job, state.measure, state.shown.moment)
    place = next((index for index, rank in enumerate(job.ranks) if rank is chosen), 0)
    rows = (
        _title(state.measure, layout, box.width, pen),
        *_map(job, (layout, place, heats), box.width, pen),
        _chosen(chosen, state.shown.moment, box.width, pen),
        _legend(state.measure, box.width, pen),
        *skew_rows(state, box.width, pen),
    )
    return (*rows, *_below(state, Box(box.width, box.height - len(rows)), pen))[: box.height]


def _below(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """What a small map leaves room for: the comparison of the lit rank, and its curves."""
    wanted = compare_height(state, box.width, pen)
    if box.height < wanted + 1:
        return ()
    blank = fit((), box.width)
    compared = compare_rows(state, Box(box.width, wanted), pen)
    return (blank, *compared, *trend_rows(state, Box(box.width, box.height - 1 - len(compared)), pen))


def heat_layout(job: JobView, box: Box) -> HeatLayout:
    """How the ranks share the cells of a box."""
    room = Box(box.width - _label_width(job) - 1, max(box.height - 1 - BELOW, 1))
    return layout_for(len(job.ranks), room)


def heats_of(job: JobView, measure: Measure, moment: Moment) -> list[Heat]:
    """One for each rank of a job."""
    if measure in (Measure.HELD, Measure.STEP_TIME):
        value = held_bytes if measure is Measure.HELD else _step_ns
        return _against_median(job.ranks, value)
    if measure is Measure.USED:
        return [_DEAD if _is_dead(rank) else _used(rank) for rank in job.ranks]
    if measure is Measure.AGE:
        return [_DEAD if _is_dead(rank) else _age(rank, moment) for rank in job.ranks]
    return [_DEAD if _is_dead(rank) else _state(rank) for rank in job.ranks]


def label_columns(job: JobView) -> int:
    """Columns in front of the map."""
    return _label_width(job) + 1


def _is_dead(rank: RankView) -> bool:
    return rank.verdict.state is not RankState.RUNNING and rank.verdict.what is not What.FINISHED


def _used(rank: RankView) -> Heat:
    share = used_share(rank)
    if share is None:
        return _NONE
    role = "ok" if share < 0.85 else "warn" if share < 0.95 else "error"
    return Heat(min(max(int(share * _TOP + 0.5), 1), _TOP), role)


def _step_ns(rank: RankView) -> int:
    return rank.step_ns or 0


def _against_median(ranks: Sequence[RankView], value: Callable[[RankView], int]) -> list[Heat]:
    values = [0 if _is_dead(rank) else value(rank) for rank in ranks]
    usual = median_low([amount for amount in values if amount] or [0])
    return [
        _DEAD if _is_dead(rank) else _ratio(amount / usual) if amount else _NONE
        for rank, amount in zip(ranks, values, strict=True)
    ]


def _ratio(ratio: float) -> Heat:
    """4 at the median, one more for every 5 % above it."""
    role = "ok" if ratio < 1.08 else "warn" if ratio < 1.18 else "error"
    return Heat(min(max(round(4 + (ratio - 1) * 20), 1), _TOP), role)


def _age(rank: RankView, moment: Moment) -> Heat:
    age_s = rank.age_s(moment)
    if rank.verdict.what is What.FINISHED:
        return _NONE
    steps = ((2, Heat(1, "ok")), (5, Heat(2, "ok")), (30, Heat(5, "warn")))
    return next((heat for limit, heat in steps if age_s < limit), Heat(_TOP, "error"))


def _state(rank: RankView) -> Heat:
    if rank.verdict.what is What.FINISHED:
        return _NONE
    return Heat(5, "warn") if is_troubled(rank) else Heat(1, "ok")


def _label_width(job: JobView) -> int:
    return max(len(str(job.ranks[-1].identity.rank)), 3) + 1


def _title(measure: Measure, layout: HeatLayout, width: int, pen: Pen) -> Row:
    count = ntr("{count} rank", "{count} ranks", layout.count, count=pen.numbers.integer(layout.count))
    title = f"{count}, {tr(_NAMES[measure])}"
    cell = tr("{count} ranks a cell", count=layout.size)
    has_room = layout.size > 1 and width_of(title) + width_of(cell) + 8 < width
    return rule_row(title, width, pen, [(width - 1, cell)] if has_room else [])


_Map = tuple[HeatLayout, int, "list[Heat]"]


def _map(job: JobView, drawn: _Map, width: int, pen: Pen) -> Iterator[Row]:
    layout, place, heats = drawn
    label = _label_width(job)
    cells = [
        max(heats[first : first + layout.size], key=lambda heat: heat.level)
        for first in range(0, layout.count, layout.size)
    ]
    for start in range(0, layout.cells, layout.columns):
        number = job.ranks[start * layout.size].identity.rank
        spans = [
            span
            for index, heat in enumerate(cells[start : start + layout.columns])
            for span in _cell(heat, start + index == place // layout.size, layout.width, pen)
        ]
        yield fit(merge((Span(f"{number:>{label}} ", "dim"), *spans)), width)


def _cell(heat: Heat, is_chosen: bool, width: int, pen: Pen) -> Row:
    """The chosen cell has a pointer in front, or is lit where there is no room for one."""
    glyph = _glyph(heat.level, pen)
    if width == 1:
        return (Span(glyph, "cursor" if is_chosen else heat.role),)
    if is_chosen:
        return (Span(pen.glyphs.pointer, "accent"), Span(glyph * (width - 1), heat.role))
    return (Span(f" {glyph * (width - 1)}", heat.role),)


def _glyph(level: int, pen: Pen) -> str:
    if level == DEAD:
        return pen.glyphs.bad
    levels = pen.glyphs.levels
    return levels[level * (len(levels) - 1) // _TOP] if level else "."


def _chosen(rank: RankView, moment: Moment, width: int, pen: Pen) -> Row:
    """What the lit cell's rank says, the least important left out first."""
    room, share = headroom(rank), used_share(rank)
    parts = [
        Span(verdict_text(rank.verdict), verdict_role(rank.verdict)),
        Span("" if room is None else tr("{amount} free at the peak", amount=pen.numbers.size(max(room, 0)))),
        Span("" if share is None else pen.numbers.percent(share)),
        Span("" if not rank.step_ns else pen.numbers.seconds(rank.step_ns / 1e9)),
        Span(last_word(rank, moment, pen), "dim"),
        Span(rank.identity.host, "dim"),
    ]
    line: Row = (Span(f" {pen.glyphs.pointer} "), Span(tr("rank {rank}", rank=rank.identity.rank), "accent"))
    for part in parts:
        if part.text and row_width(line) + width_of(part.text) + 3 <= width:
            line = (*line, Span("  "), part)
    return fit(line, width)


def _legend(measure: Measure, width: int, pen: Pen) -> Row:
    entries = [*_LEGENDS[measure], (DEAD, "error", N_("ended"))]
    spans: list[Span] = [Span(" ")]
    for level, role, text in entries:
        spans += [Span(f"  {_glyph(level, pen)}", role), Span(f" {tr(text)}", "dim")]
    return fit(tuple(spans), width)
