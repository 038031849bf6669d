"""The alerts under the first line: how old each is, of which ranks it is, and what it is about."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.text.language import N_, ntr, tr
from scaletui.view.cells import crop, width_of
from scaletui.view.live_ranks import age_text
from scaletui.view.live_words import verdict_text
from scaletui.view.row import Row, Span, fit
from scaletui.view.time_of_day import when
from scaletui_engine.live.alerts import AlertKind
from scaletui_engine.live.evidence import RankState, Verdict

if TYPE_CHECKING:
    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.alerts import Alert
    from scaletui_engine.live.snapshot import Moment

MOST: Final = 4
"""Rows; the newest alerts are shown, and how many more there are."""
FEW: Final = 2
"""The same where the screen is short."""
TALL: Final = 30
ROOMY: Final = 80
NUMBERS: Final = 4
"""Ranks that are named; the others are counted."""
_WORDS: Final = MappingProxyType({
    AlertKind.OUT_OF_MEMORY: N_("an allocation failed, and the job goes on"),
    AlertKind.RETRIES: N_("the allocator had to flush its cache and try again"),
    AlertKind.GROWTH: N_("memory grows and ends within half an hour"),
    AlertKind.NARROW: N_("less than 5 % of the device was left at the peak"),
    AlertKind.STRAGGLER: N_("keeps the others waiting"),
    AlertKind.QUIET: N_("the probe gave up after errors of its own"),
})  # fmt: skip


def alert_rows(state: LiveState, screen: Box, pen: Pen) -> tuple[Row, ...]:
    """One row an alert that nobody has acknowledged, the newest first, on a screen of that size."""
    width, most = screen.width, MOST if screen.height >= TALL else FEW
    shown, job = state.shown, state_of.job(state)
    if shown is None or job is None:
        return ()
    open_ones = [alert for alert in state.alerts if alert.job == job.id and not alert.is_acknowledged]
    rows = []
    for alert in open_ones[: -most - 1 : -1]:
        age = _age(alert, shown.moment, pen)
        rows.append(_row(f"{pen.glyphs.bad} {_ranks(alert)}: {_text(alert)}", age, (width, pen), alert))
    if len(open_ones) > most:
        more = ntr("{n} more alert", "{n} more alerts", len(open_ones) - most + 1)
        rows[-1] = _row(f"{pen.glyphs.bad} {more}", "", (width, pen), open_ones[0])
    return tuple(rows)


def _age(alert: Alert, moment: Moment, pen: Pen) -> str:
    """How old it is; of ranks that have ended, when."""
    if alert.ended_wall_ns is not None:
        return when(alert.ended_wall_ns, moment.wall_ns)
    return age_text(alert.age_s(moment), pen)


def _row(text: str, age: str, place: tuple[int, Pen], alert: Alert) -> Row:
    """What it is, how old it is, and the key that acknowledges it where there is room."""
    width, pen = place
    key = f"  a {tr('seen')}" if width >= ROOMY else ""
    tail = f"  {age}{key} "
    shown = crop(f" {text}", max(width - width_of(tail), 0), pen.glyphs.ellipsis)
    role = "error" if alert.kind.is_serious else "warn"
    gap = " " * max(width - width_of(shown) - width_of(tail), 0)
    return fit((Span(shown, role), Span(f"{gap}  {age}", "dim"), Span(key, "key"), Span(" ")), width)


def _ranks(alert: Alert) -> str:
    numbers = ", ".join(map(str, alert.ranks[:NUMBERS]))
    if len(alert.ranks) > NUMBERS:
        return tr("{count} ranks ({numbers}, ...)", count=len(alert.ranks), numbers=numbers)
    return ntr("rank {numbers}", "ranks {numbers}", len(alert.ranks), numbers=numbers)


def _text(alert: Alert) -> str:
    if alert.kind is AlertKind.TROUBLE:
        return verdict_text(Verdict(RankState.EXITED, alert.what, alert.detail))
    return tr(_WORDS[alert.kind])
