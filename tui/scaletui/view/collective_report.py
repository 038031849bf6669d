"""A collective as plain text: a line a step, with its messages and the bytes so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.collective_words import NAMES, name_of
from scaletui.view.row import Row, Span
from scaletui.view.step_clock import short_size
from scaletui.view.table import Column, table_rows
from scaletui_engine.collectives.family import phase_at, volume

if TYPE_CHECKING:
    from scaletui.view.pen import Pen
    from scaletui_engine.collectives.family import Played
    from scaletui_engine.collectives.player import Player
    from scaletui_engine.collectives.step import Transfer


def report_rows(played: Played, player: Player, width: int, pen: Pen) -> tuple[Row, ...]:
    """What is played, what it comes to, then every step; messages that do not fit are counted."""
    columns = (
        Column(tr("step"), numeric=True), Column(tr("phase")), Column(tr("messages"), shrinks=True),
        Column(tr("sent"), numeric=True),
    )  # fmt: skip
    lines = [_line(played, player, index, (width, pen)) for index in range(1, player.last + 1)]
    return (*_head(played, player, pen), (), *table_rows(columns, lines, width, pen.glyphs.ellipsis))


def _head(played: Played, player: Player, pen: Pen) -> tuple[Row, ...]:
    size, found = short_size(played.payload, pen), volume(played)
    over = tr("{name} of {size} over {n} ranks", name=name_of(played), size=size, n=played.ranks)
    steps = ntr("{n} step", "{n} steps", player.last)
    most = max(player.frame(player.last).sent)
    sums = tr(
        "a rank sends at most {total} = {formula} {times} {size}",
        total=short_size(most, pen), formula=found.text, times=pen.glyphs.times, size=size,
    )  # fmt: skip
    marks = tr("+ the receiver adds it, ! it leaves its node")
    return ((Span(f"{over}, {steps}"),), (Span(sums),), (Span(marks),))


def _line(played: Played, player: Player, index: int, room: tuple[int, Pen]) -> tuple[Span, ...]:
    width, pen = room
    frame = player.frame(index)
    texts = [_message(played, player, each) for each in frame.moving]
    shown, left = list[str](), max(width - _BESIDE, 16)
    for text in texts:
        if sum(len(each) + 2 for each in shown) + len(text) > left:
            break
        shown.append(text)
    more = len(texts) - len(shown)
    messages = "  ".join([*shown, *([tr("{n} more", n=more)] if more else [])])
    phase = tr(NAMES[phase_at(played, index)])
    return (Span(str(index)), Span(phase), Span(messages), Span(short_size(max(frame.sent), pen)))


_BESIDE: Final = 48
"""Cells of the other columns, and of the number of messages that are left out."""


def _message(played: Played, player: Player, each: Transfer) -> str:
    """ "0>1 +b7!"."""
    blocks = player.lands(each)
    name = f"b{blocks.start}" if len(blocks) == 1 else f"b{blocks.start}-{blocks.stop - 1}"
    crosses = "!" if played.crosses(each.source, each.target) else ""
    return f"{each.source}>{each.target} {'+' if each.add else ''}{name}{crosses}"
