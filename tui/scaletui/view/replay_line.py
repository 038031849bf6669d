"""The time line of a replay: how it runs and where it is, what happened last, and marks over time.

- > x1  0:42 of 1:28  14:03:22 UTC ---------------- rank 2: killed, 10 s ago -
  S----------------------EK------R---------#------------------------------------X
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state.replay import last_marks
from scaletui.text.language import N_, ntr, tr
from scaletui.view.cells import crop, width_of
from scaletui.view.live_ranks import age_text
from scaletui.view.live_words import verdict_text
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.schedule_times import plain
from scaletui.view.time_of_day import time_of_day
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.history import RECENT
from scaletui_engine.live.judgement import calm
from scaletui_engine.live.recording.layout import kept_steps
from scaletui_engine.live.recording.marks import MarkKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.playback import Playback
    from scaletui.state.replay import Placed, Reel
    from scaletui.view.pen import Pen
    from scaletui_engine.live.recording.marks import Mark
    from scaletui_engine.live.snapshot import Snapshot

HEIGHT: Final = 2
SECONDS: Final = 60
ROOMY: Final = 80
"""Columns from which the time of day stands there too."""
EDGE: Final = 1
"""Blank cells at either end of the track."""
LETTERS: Final = MappingProxyType({
    MarkKind.DEATH: ("K", "error"),
    MarkKind.OUT_OF_MEMORY: ("O", "error"),
    MarkKind.EXCEPTION: ("E", "error"),
    MarkKind.RESTART: ("R", "warn"),
    MarkKind.RETRY: ("A", "warn"),
    MarkKind.START: ("S", "ok"),
    MarkKind.EXIT: ("X", "ok"),
})  # fmt: skip
"""Letter and colour; of several marks in a cell, the first of these is drawn."""
_SENTENCES: Final = MappingProxyType({
    MarkKind.START: N_("job started"),
    MarkKind.RESTART: N_("job started again"),
    MarkKind.OUT_OF_MEMORY: N_("{ranks} out of memory"),
    MarkKind.RETRY: N_("{ranks} emptied the allocator's cache"),
    MarkKind.EXCEPTION: N_("{ranks} failed: {word}"),
    MarkKind.EXIT: N_("{ranks} ended in order"),
    MarkKind.DEATH: N_("{ranks}: {word}"),
})  # fmt: skip


def line_rows(reel: Reel, playback: Playback, width: int, pen: Pen) -> tuple[Row, ...]:
    """Two rows."""
    return (_words_row(reel, playback, width, pen), track_row(reel, playback, width, pen))


def columns_of(width: int) -> int:
    """Cells of the track."""
    return max(width - 2 * EDGE, 1)


def track_row(reel: Reel, playback: Playback, width: int, pen: Pen) -> Row:
    """Time from edge to edge, letters where something happened, and the playhead over them."""
    columns = columns_of(width)
    cells = [Span(pen.glyphs.horizontal, "border")] * columns
    for item in sorted(reel.marks, key=lambda item: -_ORDER[item.mark.kind]):
        cells[_column(reel, item.position, columns)] = Span(*LETTERS[item.mark.kind])
    here = _column(reel, playback.position, columns)
    cells[here] = Span(pen.glyphs.playhead, "cursor")
    return fit((Span(" " * EDGE), *merge(cells)), width)


def column_position(reel: Reel, column: int, width: int) -> float:
    """Seconds at a column of the row, for the mouse."""
    columns = columns_of(width)
    share = min(max(column - EDGE, 0), columns - 1) / max(columns - 1, 1)
    return share * reel.duration_s


def clock_text(seconds: float) -> str:
    """Minutes and seconds, hours where there are any."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def where_text(reel: Reel, playback: Playback) -> str:
    """How far it is, of how much."""
    at, of = clock_text(playback.position), clock_text(reel.duration_s)
    return tr("{at} of {of}", at=at, of=of)


def short_text(look: Snapshot | None) -> str:
    """How many steps of a curve were kept, where there were too many ranks for all that is shown live."""
    ranks = 0 if look is None else sum(len(job.ranks) for job in look.jobs)
    steps = kept_steps(ranks)
    return "" if steps == RECENT else tr("{ranks} ranks: curves of the last {n} steps", ranks=ranks, n=steps)


def told(marks: Sequence[Placed]) -> str:
    """The worst of these marks as a sentence, with every rank that it befell."""
    worst = min((item.mark for item in marks), key=_severity)
    same = [item.mark.rank for item in marks if (item.mark.kind, item.mark.word) == (worst.kind, worst.word)]
    numbers = [str(rank) for rank in sorted(rank for rank in same if rank is not None)]
    ranks = ntr("rank {ranks}", "ranks {ranks}", len(numbers), ranks=", ".join(numbers))
    return tr(_SENTENCES[worst.kind], ranks=ranks, word=_word(worst))


def _severity(mark: Mark) -> tuple[int, int]:
    """By kind; of deaths those first that bring others."""
    what = _WHATS.get(mark.word)
    return _ORDER[mark.kind], 0 if what is None else calm(what)


def _word(mark: Mark) -> str:
    """A verdict in the language in force, the class of an exception as it is."""
    what = _WHATS.get(mark.word) if mark.kind is MarkKind.DEATH else None
    return mark.word if what is None else verdict_text(Verdict(RankState.EXITED, what))


def _words_row(reel: Reel, playback: Playback, width: int, pen: Pen) -> Row:
    sign = pen.glyphs.play if playback.playing else pen.glyphs.pause
    speed = f"{sign} {pen.glyphs.times}{plain(playback.speed, pen, 3)}"
    clock = time_of_day(reel.start_wall_ns + int(playback.position) * 1_000_000_000)
    left = f"{speed}  {where_text(reel, playback)}" + (f"  {clock}" if width >= ROOMY else "")
    right, role = _news(reel, playback, pen)
    line = pen.glyphs.horizontal
    room = width - width_of(left) - 8
    news = crop(right, max(room, 0), pen.glyphs.ellipsis)
    gap = max(width - width_of(left) - width_of(news) - (6 if news else 3), 0)
    words = (Span(f" {news} ", role), Span(line, "border")) if news else ()
    return fit((Span(line, "border"), Span(f" {left} ", "title"), Span(line * gap, "border"), *words), width)


def _news(reel: Reel, playback: Playback, pen: Pen) -> tuple[str, str]:
    """What happened last and how long ago."""
    marks = last_marks(reel, playback.position)
    if marks:
        ago = int(playback.position - marks[-1].position)
        age = age_text(ago, pen) if ago >= SECONDS else f"{ago} s"
        kind = min((item.mark.kind for item in marks), key=_ORDER.__getitem__)
        return tr("{what}, {age} ago", what=told(marks), age=age), LETTERS[kind][1]
    if reel.is_damaged:
        return tr("the file ends in a torn look"), "warn"
    return "", "dim"


def _column(reel: Reel, position: float, columns: int) -> int:
    share = position / reel.duration_s if reel.duration_s > 0 else 0.0
    return min(max(round(share * (columns - 1)), 0), columns - 1)


_ORDER: Final = {kind: place for place, kind in enumerate(LETTERS)}
_WHATS: Final = {str(what): what for what in What}
