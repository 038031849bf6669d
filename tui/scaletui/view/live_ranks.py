"""One row for each rank: its memory as a bar, figures, step, step time, age, and what happened to it.

▶●   5 W  G  O     A          U    ====......┃  61.2/70.4/74.0   4812  0.41 s  0.4 s  running
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.text.language import N_, ntr, tr
from scaletui.view.bars import Bar, split, track_row
from scaletui.view.big import BIG_HEIGHT
from scaletui.view.budget_stages import window
from scaletui.view.cells import crop, left, right, width_of
from scaletui.view.live_bar import bar_parts, capacity_of, held_by, note_of, seats_by_rank
from scaletui.view.live_words import verdict_role, verdict_text
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.time_of_day import when
from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.order import Order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.driver.matching import Seat
    from scaletui_engine.live.snapshot import Moment, RankView, Snapshot

SHORTEST_BAR: Final = 10
NARROW: Final = 60
"""Below so many columns, which only reports have, a rank has no bar, and its story a row of its own."""
_ORDERS: Final = MappingProxyType({
    Order.HEADROOM: N_("ranks by headroom"),
    Order.RANK: N_("ranks by number"),
    Order.STEP_TIME: N_("ranks by step time"),
    Order.RESERVED: N_("ranks by reserved memory"),
    Order.AGE: N_("ranks by age"),
})  # fmt: skip
_AGES: Final = ((60, 1, "s"), (3_600, 60, "m"), (86_400, 3_600, "h"))


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of one row."""

    rank: RankView
    label: str
    note: str
    step: str
    time: str
    age: str
    status: str
    seat: Seat | None = None
    """Its GPU as the driver sees it."""

    @property
    def is_plain(self) -> bool:
        """Whether the status is one word, and no story."""
        return self.rank.verdict.what in (What.NOTHING, What.FINISHED)


@dataclass(frozen=True, slots=True)
class _Widths:
    label: int
    note: int
    step: int
    time: int
    age: int
    tail: int
    """Everything behind the step: time, age and state, or what happened and how long ago."""
    has_figures: bool
    """Whether any row has a time and an age in their columns."""


def ranks_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The title with the columns' heads, then as many ranks as fit, the chosen one among them."""
    snapshot, ranks = state.shown, state_of.ordered(state)
    if snapshot is None or box.height < 1 or state_of.job(state) is None:
        return ()
    if not ranks:
        nothing = Span(f" {tr('no rank is like that; Escape shows all')}", "warn")
        return (rule_row(_name(state, 0, pen), box.width, pen), fit((nothing,), box.width))[: box.height]
    first, last = shown_ranks(state, box.height, pen)
    lines = _lines(state, range(first, last), pen)
    widths = _widths(lines, box.width)
    layout = (widths, _scale(snapshot, ranks))
    if box.width < NARROW:
        title = rule_row(_name(state, len(ranks) - len(lines), pen), box.width, pen)
        return (title, *(row for line in lines for row in _narrow(line, widths, box.width, pen)))
    return (
        _title(_name(state, len(ranks) - len(lines), pen), widths, box.width, pen),
        *(row for line in lines for row in _rows(line, layout, box.width, pen)),
    )


def rank_row(state: LiveState, rank: RankView, width: int, pen: Pen) -> Iterator[Row]:
    """The row of one rank by itself, on the scale of all."""
    if state.shown is not None:
        seat = seats_by_rank(state.shown).get(rank.path)
        line = replace(_line(rank, "", state.shown.moment, pen), seat=seat)
        yield from _rows(line, (_widths([line], width), _scale(state.shown, (rank,))), width, pen)


def _lines(state: LiveState, places: range, pen: Pen) -> list[_Line]:
    assert state.shown is not None, "ranks are of a snapshot"
    ranks, chosen, worst = state_of.ordered(state), state_of.rank_index(state), state_of.worst_rank(state)
    seats = seats_by_rank(state.shown)
    found = []
    for place in places:
        rank = ranks[place]
        pointer = pen.glyphs.pointer if place == chosen else " "
        label = f"{pointer}{pen.glyphs.mark if rank is worst else ' '}{rank.identity.rank:>3}"
        found.append(replace(_line(rank, label, state.shown.moment, pen), seat=seats.get(rank.path)))
    return found


def _scale(snapshot: Snapshot, ranks: Sequence[RankView]) -> int:
    seats = seats_by_rank(snapshot)
    return max(capacity_of(rank, seats.get(rank.path)) or held_by(rank) for rank in ranks)


def _name(state: LiveState, hidden: int, pen: Pen) -> str:
    """By what the ranks are sorted, how many more there are, and what was typed."""
    title = tr(_ORDERS[state.order])
    if state.filter:
        shown, job = pen.numbers.integer(len(state_of.ordered(state))), state_of.job(state)
        count = pen.numbers.integer(0 if job is None else len(job.ranks))
        title = f"{title}, {tr('{shown} of {count}', shown=shown, count=count)}: {state.filter}"
    if hidden > 0:
        title = f"{title}, {tr('{hidden} more', hidden=pen.numbers.integer(hidden))}"
    away = len(state_of.folded_ranks(state))
    if away:
        title = f"{title}, {ntr('{n} ended (state:dead)', '{n} ended (state:dead)', away)}"
    return title


def rank_height(pen: Pen) -> int:
    """Rows of one rank."""
    return BIG_HEIGHT if pen.big else 1


def shown_ranks(state: LiveState, height: int, pen: Pen) -> tuple[int, int]:
    """Half-open range of the ordered ranks that a pane of so many rows shows."""
    room = (height - 1) // rank_height(pen)
    return window(len(state_of.ordered(state)), state_of.rank_index(state), room)


def age_text(age_s: float, pen: Pen) -> str:
    """An age to the tenth of a second, and coarser the older it is."""
    if age_s < 9.95:
        return f"{pen.numbers.fixed(age_s, 1)} s"
    for limit, scale, unit in _AGES:
        if age_s < limit:
            return f"{int(age_s) // scale} {unit}"
    return f"{pen.numbers.integer(int(age_s) // 86_400)} d"


def last_word(rank: RankView, moment: Moment, pen: Pen) -> str:
    """How old its last word is; of a rank that has ended, when that was."""
    if rank.verdict.state is RankState.EXITED:
        return when(rank.last_wall_ns, moment.wall_ns)
    return age_text(rank.age_s(moment), pen)


def _line(rank: RankView, label: str, moment: Moment, pen: Pen) -> _Line:
    is_running = rank.verdict.state is RankState.RUNNING
    return _Line(
        rank=rank,
        label=label,
        note=note_of(rank, pen),
        step="-" if rank.step is None else pen.numbers.integer(rank.step),
        time=pen.numbers.seconds(rank.step_ns / 1e9) if rank.step_ns and is_running else "",
        age=last_word(rank, moment, pen),
        status=verdict_text(rank.verdict),
    )


def _widths(lines: list[_Line], width: int) -> _Widths:
    """Columns as wide as their words; a story is cut where it would leave no room for the bars."""
    time = max([width_of(tr("time")) + 1, *(width_of(line.time) for line in lines)])
    age = max([width_of(tr("age")) + 1, *(width_of(line.age) for line in lines)])
    status = max((width_of(line.status) for line in lines if line.is_plain), default=0)
    story = max((width_of(line.status) + age + 2 for line in lines if not line.is_plain), default=0)
    return _Widths(
        label=max(width_of(line.label) for line in lines) + 1,
        note=max(width_of(line.note) for line in lines),
        step=max([width_of(tr("steps")), *(width_of(line.step) for line in lines)]),
        time=time,
        age=age,
        tail=max(time + age + status + 2, min(story, width // 2)),
        has_figures=any(line.is_plain for line in lines),
    )


def _title(name: str, widths: _Widths, width: int, pen: Pen) -> Row:
    tail = width - 1 - widths.tail
    heads = [(tail, tr("steps"))]
    if widths.has_figures:
        heads.append((tail + widths.time + 1, tr("time")))
        heads.append((tail + widths.time + widths.age + 2, tr("age")))
    return rule_row(name, width, pen, heads)


def _rows(line: _Line, layout: tuple[_Widths, int], width: int, pen: Pen) -> Iterator[Row]:
    """The row of a rank, its bar three times as tall where it has to be read from afar."""
    widths, _ = layout
    row = _row(line, layout, width, pen)
    yield fit(row, width)
    tail = widths.note + widths.step + widths.tail + 4
    for _ in range(rank_height(pen) - 1):
        _, rest = split(row, widths.label)
        bar, _ = split(rest, width - widths.label - tail - 1)
        yield fit((Span(" " * widths.label), *bar), width)


def _row(line: _Line, layout: tuple[_Widths, int], width: int, pen: Pen) -> Row:
    widths, scale = layout
    words = widths.label + widths.note + widths.step + widths.tail + 5
    bar = Bar("", bar_parts(line.rank, line.seat))
    scales = (capacity_of(line.rank, line.seat), max(scale, bar.total))
    label_role = "accent" if line.label.startswith(pen.glyphs.pointer) else "text"
    return merge(
        (
            Span(left(line.label, widths.label), label_role),
            *track_row(bar, scales, max(width - words, SHORTEST_BAR), pen),
            Span(f" {right(line.note, widths.note)} {right(line.step, widths.step)} "),
            *_tail(line, widths, pen),
        )
    )


def _narrow(line: _Line, widths: _Widths, width: int, pen: Pen) -> Iterator[Row]:
    """Figures alone, then what happened."""
    label_role = "accent" if line.label.startswith(pen.glyphs.pointer) else "text"
    words = f"{left(line.note, widths.note)}  {tr('step {step}', step=right(line.step, widths.step))}"
    is_roomy = widths.label + width_of(words) + widths.time + 2 <= width
    time = f"  {right(line.time, widths.time)}" if is_roomy else ""
    yield fit((Span(left(line.label, widths.label), label_role), Span(f"{words}{time}")), width)
    if not line.is_plain:
        yield from wrapped(f"{line.status}, {line.age}", width, verdict_role(line.rank.verdict))


def _tail(line: _Line, widths: _Widths, pen: Pen) -> Row:
    """Time, age and state; where something happened, that in place of the three."""
    role = verdict_role(line.rank.verdict)
    if line.is_plain:
        figures = f"{right(line.time, widths.time)} {right(line.age, widths.age)} "
        return (Span(figures), Span(line.status, role))
    room = widths.tail - widths.age - 2
    return (Span(crop(line.status, room, pen.glyphs.ellipsis), role), Span(f"  {line.age}", "dim"))
