"""How far the ranks are from each other, and who keeps the others waiting, on a line or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui.state.live_list import skew_of
from scaletui.text.language import N_, ntr, tr
from scaletui.view.row import Row, Span, fit, row_width
from scaletui_engine.live.skew import Lag

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui_engine.live.skew import Spread, Straggler

NOTABLE = 0.05
"""An excess over the median beyond this share is a warning."""
MEDIAN = 2
"""Place in a line of what goes first where there is no room."""


def skew_rows(state: LiveState, width: int, pen: Pen) -> tuple[Row, ...]:
    """Least, median and most of memory and of step time, on one line where both fit; then one straggler."""
    job = state_of.job(state)
    if job is None or state.shown is None:
        return ()
    memory, time, found = skew_of(job, state.shown.moment)
    lines = [
        _spread(tr(name), spread, form, pen)
        for name, spread, form in (
            (N_("memory"), memory, pen.numbers.size),
            (N_("step time"), time, lambda value: pen.numbers.seconds(value / 1e9)),
        )
        if spread is not None and spread.most
    ]
    rows: tuple[Row, ...] = tuple(
        line if row_width(line) <= width else (*line[:MEDIAN], *line[MEDIAN + 1 :]) for line in lines
    )
    if len(lines) == 2 and row_width(lines[0]) + row_width(lines[1]) + 3 <= width:
        rows = ((*lines[0], Span("   "), *lines[1]),)
    words = [straggler_text(straggler, pen) for straggler in found[:1]]
    if len(found) > 1:
        words.append(ntr("and {n} more", "and {n} more", len(found) - 1))
    told = (Span(f" {pen.glyphs.bad} {', '.join(words)}", "warn"),) if words else None
    return tuple(fit(row, width) for row in (*rows, *((told,) if told else ())))


def straggler_text(straggler: Straggler, pen: Pen) -> str:
    """Who keeps the others waiting, and what shows it."""
    if straggler.lag is Lag.BEHIND:
        return ntr(
            "rank {rank} is {count} step behind the others", "rank {rank} is {count} steps behind the others",
            straggler.amount, rank=straggler.rank, count=pen.numbers.integer(straggler.amount),
        )  # fmt: skip
    time = pen.numbers.seconds(straggler.amount / 1e9)
    if straggler.lag is Lag.SLOW:
        return tr("rank {rank} is slow: its steps take {time} more", rank=straggler.rank, time=time)
    return tr(
        "rank {rank} is late: last in {times} of {of} steps, by {time}",
        rank=straggler.rank, times=straggler.times, of=straggler.of, time=time,
    )  # fmt: skip


def _spread(name: str, spread: Spread, form: Callable[[int], str], pen: Pen) -> Row:
    """ "memory 9.1 GiB to 12.4 GiB, median 9.2 GiB  rank 5 +3.2 GiB": the last is over the median.

    Where none differs there is nobody to name.
    """
    if spread.least == spread.most:
        return Span(f" {name} ", "dim"), Span(tr("{amount} on every running rank", amount=form(spread.most)))
    ends = tr("{low} to {high}", low=form(spread.least), high=form(spread.most))
    middle = tr(", median {amount}", amount=form(spread.median))
    more = tr("rank {rank} {amount}", rank=spread.rank, amount=pen.numbers.signed(spread.excess, form))
    role = "warn" if spread.excess > NOTABLE * spread.median else "dim"
    return Span(f" {name} ", "dim"), Span(ends), Span(middle), Span(f"  {more}", role)
