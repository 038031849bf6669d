"""How a job ended, in the place of its curves: the order in which its ranks fell, and the last that is known.

- how it ended -----------------------------------------------------------------
 1  rank 2  step 40  16:37:01 UTC  SIGKILL: the system's OOM killer or somebody
    rank 1  step 40  +0.3 s        RuntimeError, when a peer had gone
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui.text.language import ntr, tr
from scaletui.view.black_box_words import ending_text
from scaletui.view.cells import crop, left, width_of
from scaletui.view.live_words import category_name, verdict_role
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import NO_BREAK, rule_row, wrapped
from scaletui.view.time_of_day import time_of_day
from scaletui_engine.live.post_mortem import PostMortem, last_steps, post_mortem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.post_mortem import Departure
    from scaletui_engine.live.snapshot import RankView


def black_box_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Nothing as long as all is well; the list of ranks gives way to what is said below it."""
    found = _found(state)
    if found is None or box.height < 2:
        return ()
    below = [*_below(found, box.width, pen)]
    room = max(box.height - 1 - len(below), 1)
    listed = list(_departures(found, box.width, pen))
    title, hidden = _title(found), len(listed) - max(room - 1, 1)
    if len(listed) > room:
        more = ntr("{n} rank more", "{n} ranks more", hidden)
        if room == 1:
            title, listed = f"{title}, {more}", listed[:1]
        else:
            listed = [*listed[: room - 1], fit((Span(f"    {more}", "dim"),), box.width)]
    return (rule_row(title, box.width, pen), *listed, *below)[: box.height]


def black_box_height(state: LiveState, width: int, pen: Pen) -> int:
    """Rows of all of it."""
    found = _found(state)
    return 0 if found is None else 1 + len(found.departures) + len([*_below(found, width, pen)])


def _found(state: LiveState) -> PostMortem | None:
    """The end that there is something to say of: of one in order, the curves say more."""
    job = state_of.job(state)
    found = None if job is None else post_mortem(job)
    return None if found is None or found.in_order else found


def _title(found: PostMortem) -> str:
    if not found.still_there:
        return tr("how it ended")
    return ntr(
        "who has gone, {n} rank is still there", "who has gone, {n} ranks are still there", found.still_there
    )


def _departures(found: PostMortem, width: int, pen: Pen) -> Iterator[Row]:
    """One row each: the first is numbered, with a question mark where it may not have been the first."""
    first = found.departures[0]
    number = "1" if found.is_order_known else "1?"
    names = [tr("rank {rank}", rank=item.rank.identity.rank) for item in found.departures]
    steps = [_step(item.rank, pen) for item in found.departures]
    times = [time_of_day(first.wall_ns), *(_after(first, item, pen) for item in found.departures[1:])]
    widths = [max(map(width_of, column)) for column in (names, steps, times)]
    for index, item in enumerate(found.departures):
        words = (names[index], steps[index], times[index])
        columns = "  ".join(left(word, room) for word, room in zip(words, widths, strict=True))
        head = f" {number if index == 0 else '':<2} {columns}  "
        text = crop(ending_text(item), max(width - width_of(head), 0), pen.glyphs.ellipsis)
        yield fit((Span(head), Span(text, verdict_role(item.rank.verdict))), width)


def _step(rank: RankView, pen: Pen) -> str:
    return tr("no step") if rank.step is None else tr("step {step}", step=pen.numbers.integer(rank.step))


def _after(first: Departure, item: Departure, pen: Pen) -> str:
    seconds = round((item.wall_ns - first.wall_ns) / 1e9, 1)
    return f"{'+' if seconds >= 0 else '-'}{pen.numbers.fixed(abs(seconds), 1)} s"


def _below(found: PostMortem, width: int, pen: Pen) -> Iterator[Row]:
    """Doubts, the moment without memory, and the last steps of the rank that fell first."""
    if not found.is_order_known:
        yield from wrapped(
            tr("Nobody watched: the last records are too close together to tell who was first."),
            width,
            "warn",
        )
    if found.out_of_memory is not None:
        yield from _memory(found, width, pen)
    text = _steps(found.departures[0].rank, pen)
    if text:
        yield from wrapped(text, width, "dim")


def _memory(found: PostMortem, width: int, pen: Pen) -> Iterator[Row]:
    assert found.out_of_memory is not None
    rank, happening = found.out_of_memory
    asked, free = happening.values
    number, size = rank.identity.rank, pen.numbers.size
    if asked:
        text = tr(
            "rank {rank} asked for {asked} with {free} left on its GPU.",
            rank=number, asked=size(asked), free=size(free),
        )  # fmt: skip
    else:
        text = tr("rank {rank} found no memory; how much it asked for is not known.", rank=number)
    held = [f"{category_name(name)} {size(amount)}" for name, amount in happening.held.items() if amount]
    if held:
        text += " " + tr("It held: {parts}.", parts=", ".join(held))
    yield from wrapped(text, width, "error")


def _steps(rank: RankView, pen: Pen) -> str:
    """The last steps with their times, and how memory went in them; of fast ones only some were seen."""
    points = last_steps(rank)
    if not points:
        return ""
    times = [
        f"{pen.numbers.integer(point.step)}: {pen.numbers.seconds(point.step_ns / 1e9)}".replace(
            " ", NO_BREAK
        )
        for point in points
        if point.step_ns
    ]
    every = all(after.step == before.step + 1 for before, after in pairwise(points))
    words = (
        tr("Last steps of rank {rank}: {times}")
        if every
        else tr("Last samples of rank {rank}, step and time: {times}")
    )
    text = words.format(rank=rank.identity.rank, times=", ".join(times))
    memory = _growth([point.allocated or point.host_rss for point in points], pen)
    return f"{text}; {memory}" if memory else text


def _growth(values: Sequence[int | None], pen: Pen) -> str:
    known = [value for value in values if value]
    if not known:
        return ""
    first, last = (pen.numbers.size(value) for value in (known[0], known[-1]))
    return (
        tr("memory {first}", first=first)
        if first == last
        else tr("memory {first} to {last}", first=first, last=last)
    )
