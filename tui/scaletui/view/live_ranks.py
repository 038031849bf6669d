"""One row for each rank: its memory as a bar, figures, step, step time, age, and what happened to it.

▶●   5 W  G  O     A          U    ====......┃  61.2/70.4/74.0   4812  0.41 s  0.4 s  running
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.text.language import tr
from scaletui.view.bars import Bar, track_row
from scaletui.view.budget_stages import window
from scaletui.view.cells import left, right, width_of
from scaletui.view.live_words import CATEGORY_ROLES, verdict_role, verdict_text
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui_engine.live.evidence import RankState, What

if TYPE_CHECKING:
    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import Moment, RankView

SHORTEST_BAR: Final = 10
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


@dataclass(frozen=True, slots=True)
class _Widths:
    label: int
    note: int
    step: int
    time: int
    age: int
    status: int

    @property
    def total(self) -> int:
        """Cells of everything but the bar, gaps included."""
        return self.label + self.note + self.step + self.time + self.age + self.status + 6


def ranks_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The title with the columns' heads, then as many ranks as fit, the chosen one among them."""
    snapshot, ranks = state.shown, state_of.ordered(state)
    if snapshot is None or not ranks or box.height < 1:
        return ()
    chosen = state_of.rank_index(state)
    first, last = window(len(ranks), chosen, box.height - 1)
    marks = [_label(index, chosen, ranks[index], pen) for index in range(first, last)]
    lines = [_line(ranks[index], marks[index - first], snapshot.moment, pen) for index in range(first, last)]
    widths = _widths(lines, box.width)
    scale = max(capacity_of(rank) or _held(rank) for rank in ranks)
    hidden = len(ranks) - (last - first)
    return (
        _title(hidden, widths, box.width, pen),
        *(_row(line, widths, scale, box.width, pen) for line in lines),
    )


def capacity_of(rank: RankView) -> int:
    """What the bar is held against: the device's memory; 0 without a device."""
    return rank.driver_total or 0


def bar_parts(rank: RankView) -> tuple[tuple[str, int], ...]:
    """Categories, then what the allocator keeps beyond them, then what the driver gave to anybody else."""
    parts = tuple((CATEGORY_ROLES[name], amount or 0) for name, amount in rank.now.items())
    allocator = rank.allocator
    if allocator is None or allocator.reserved is None:
        return parts
    active = allocator.active if allocator.active is not None else sum(amount for _, amount in parts)
    slack = ("reserved", max(allocator.reserved - active, 0))
    if rank.driver_total is None or rank.driver_free is None:
        return (*parts, slack)
    outside = max(rank.driver_total - rank.driver_free - allocator.reserved, 0)
    return (*parts, slack, ("overhead", outside))


def note_of(rank: RankView, pen: Pen) -> str:
    """Allocated / reserved / device in GiB, or what is held where there is no allocator."""
    allocator = rank.allocator
    if allocator is None or allocator.allocated is None:
        held = _held(rank)
        return pen.numbers.size(held) if held else "-"
    figures = (allocator.allocated, allocator.reserved, rank.driver_total)
    return "/".join(pen.numbers.gib(figure) for figure in figures if figure is not None)


def _held(rank: RankView) -> int:
    return max(rank.now.total, rank.measured.total)


def _label(index: int, chosen: int, rank: RankView, pen: Pen) -> str:
    pointer = pen.glyphs.pointer if index == chosen else " "
    mark = pen.glyphs.mark if index == 0 else " "
    return f"{pointer}{mark}{rank.identity.rank:>3}"


def _line(rank: RankView, label: str, moment: Moment, pen: Pen) -> _Line:
    is_running = rank.verdict.state is RankState.RUNNING
    return _Line(
        rank=rank,
        label=label,
        note=note_of(rank, pen),
        step="-" if rank.step is None else pen.numbers.integer(rank.step),
        time=pen.numbers.seconds(rank.step_ns / 1e9) if rank.step_ns and is_running else "",
        age=age_text(rank.age_s(moment), pen),
        status=verdict_text(rank.verdict),
    )


def age_text(age_s: float, pen: Pen) -> str:
    """An age to the tenth of a second, and coarser the older it is."""
    if age_s < 9.95:
        return f"{pen.numbers.fixed(age_s, 1)} s"
    for limit, scale, unit in _AGES:
        if age_s < limit:
            return f"{int(age_s) // scale} {unit}"
    return f"{pen.numbers.integer(int(age_s) // 86_400)} d"


def _widths(lines: list[_Line], width: int) -> _Widths:
    """Columns as wide as their words; a status longer than a word takes the place of others."""
    plain = [line for line in lines if line.rank.verdict.what in (What.NOTHING, What.FINISHED)]
    return _Widths(
        label=max(width_of(line.label) for line in lines) + 1,
        note=max(width_of(line.note) for line in lines),
        step=max(width_of(tr("step")), *(width_of(line.step) for line in lines)),
        time=max([width_of(tr("time")), *(width_of(line.time) for line in lines)]),
        age=max([width_of(tr("age")), *(width_of(line.age) for line in lines)]),
        status=max((width_of(line.status) for line in plain), default=0),
    )


def _title(hidden: int, widths: _Widths, width: int, pen: Pen) -> Row:
    end = width - 1 - widths.status - 1 if widths.status else width - 1
    ends = []
    for name, size in (("age", widths.age), ("time", widths.time), ("step", widths.step)):
        ends.append((end + 1, tr(name) if name else ""))
        end -= size + 1
    title = tr("ranks, {hidden} more", hidden=hidden) if hidden > 0 else tr("ranks")
    return rule_row(title, width, pen, list(reversed(ends)))


def _row(line: _Line, widths: _Widths, scale: int, width: int, pen: Pen) -> Row:
    track = max(width - widths.total - 1, SHORTEST_BAR)
    capacity = capacity_of(line.rank)
    bar = Bar("", bar_parts(line.rank))
    head = (
        Span(
            left(line.label, widths.label), "accent" if line.label.startswith(pen.glyphs.pointer) else "text"
        ),
        *track_row(bar, (capacity, max(scale, bar.total)), track, pen),
        Span(f" {right(line.note, widths.note)} {right(line.step, widths.step)} "),
    )
    return fit(merge((*head, *_tail(line, widths))), width)


def _tail(line: _Line, widths: _Widths) -> Row:
    """Time, age and state; where something happened, that in place of the three."""
    role = verdict_role(line.rank.verdict)
    if line.rank.verdict.what in (What.NOTHING, What.FINISHED):
        figures = f"{right(line.time, widths.time)} {right(line.age, widths.age)} "
        return (Span(figures), Span(line.status, role))
    return (Span(line.status, role), Span(f"  {line.age}", "dim"))
