"""The first line of the live screen: state, step, the worst rank's room, the gap to the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui.text.language import ntr, tr
from scaletui.view.big import BIG_HEIGHT, big_text
from scaletui.view.live_unseen import hides_steps, no_step_text
from scaletui.view.live_words import category_name, state_name, verdict_role, verdict_text
from scaletui.view.row import Row, Span, beside, fit, row_width
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.judgement import headroom, held_bytes, is_troubled, largest_gap, worst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import JobView


def answer_rows(state: LiveState, width: int, pen: Pen) -> tuple[Row, ...]:
    """One row, or three where it has to be read from afar; the least important is left out first."""
    job = state_of.job(state)
    if job is None:
        text = tr("looking for jobs ...") if state.shown is None else tr("no job found")
        blank = (fit((), width),) * (BIG_HEIGHT - 1 if pen.big else 0)
        return (fit((Span(f" {text}", "dim"),), width), *blank)
    right = _right(state, pen)
    if pen.big:
        return _big(job, right, width, pen)
    for parts in _lines(job, pen):
        line = tuple(span for part in parts for span in part)
        if row_width(line) + row_width(right) <= width:
            return (beside(line, right, width),)
    return (beside(_state(job, pen), right, width),)


def _lines(job: JobView, pen: Pen) -> Iterator[tuple[Row, ...]]:
    """What the line says, from the longest down: words go before facts do."""
    first = (_state(job, pen), _step(job, pen), _worst(job, pen))
    yield (*first, _gap(job, pen))
    yield (*first, _gap(job, pen, is_short=True))
    for count in range(len(first), 1, -1):
        yield first[:count]


def _big(job: JobView, right: Row, width: int, pen: Pen) -> tuple[Row, ...]:
    """The step in figures of three lines, and beside it state, worst rank and gap."""
    figure = big_text("" if job.step is None else pen.numbers.integer(job.step), pen.glyphs)
    words = (_state(job, pen), _worst(job, pen) or _step(job, pen), _gap(job, pen))
    return tuple(
        beside((Span(f" {figure[line]} "), *words[line]), right if line == 0 else (), width)
        for line in range(BIG_HEIGHT)
    )


def header_facts(state: LiveState) -> tuple[str, ...]:
    """What the header says in place of the scenario: the command, where it runs, and its name."""
    job = state_of.job(state)
    if job is None:
        return ()
    identity = job.identity
    slurm = " ".join(filter(None, (identity.slurm_id, identity.slurm_nodes)))
    attempt = tr("attempt {number}", number=job.attempt + 1) if job.attempt else ""
    ranks = ntr("{n} rank", "{n} ranks", job.world_size)
    return tuple(
        filter(None, (short_command(identity.command), ranks, attempt, slurm, identity.host, job.id))
    )


def short_command(command: str) -> str:
    """The command without the folders of its interpreter and its script."""
    words = command.split()
    return " ".join(word.rsplit("/", 1)[-1] if index < 2 else word for index, word in enumerate(words))


def _state(job: JobView, pen: Pen) -> Row:
    first = worst(job)
    role = verdict_role(first.verdict)
    if not is_troubled(first):
        return (Span(f" {pen.glyphs.ok} {state_name(job.state)}", role),)
    text = tr(
        "{state}, rank {rank}: {what}",
        state=state_name(job.state), rank=first.identity.rank, what=verdict_text(first.verdict),
    )  # fmt: skip
    return (Span(f" {pen.glyphs.bad} {text}", role),)


def _step(job: JobView, pen: Pen) -> Row:
    if job.step is None:
        mute = next((rank for rank in job.ranks if hides_steps(rank)), job.ranks[0])
        return (Span("  " + no_step_text(mute), "dim"),)
    spans = [Span("  " + tr("step {step}", step=pen.numbers.integer(job.step)))]
    times = [rank.step_ns for rank in job.ranks if rank.step_ns]
    if times and job.state is RankState.RUNNING:
        spans.append(Span(f"  {pen.numbers.seconds(max(times) / 1e9)}"))
    return tuple(spans)


def _worst(job: JobView, pen: Pen) -> Row:
    rank = worst(job)
    room, number = headroom(rank), rank.identity.rank
    if room is not None:
        amount = pen.numbers.size(max(room, 0))
        return (Span("   " + tr("worst: rank {rank}, {amount} free", rank=number, amount=amount)),)
    # The order of the list takes ranks for alike that nearly are; what is said here is exact.
    most = max(job.ranks, key=held_bytes)
    held, number = held_bytes(most), most.identity.rank
    if not held:
        return ()
    return (Span("   " + tr("most: rank {rank}, {amount}", rank=number, amount=pen.numbers.size(held))),)


def _gap(job: JobView, pen: Pen, *, is_short: bool = False) -> Row:
    gap = largest_gap(job)
    if gap is None:
        return ()
    if gap.bytes == 0:
        text = tr("as predicted") if is_short else tr("as predicted, to the byte")
        return (Span("   "), Span(f"{pen.glyphs.ok} {text}", "ok"))
    amount = pen.numbers.signed(gap.bytes, pen.numbers.size)
    words = {"category": category_name(gap.category), "amount": amount}
    text = (
        tr("gap: {category} {amount}", **words)
        if is_short
        else tr("largest gap: {category} {amount}", **words)
    )
    return (Span("   "), Span(text, "warn"))


def _right(state: LiveState, pen: Pen) -> Row:
    spans = [Span(f" {tr('paused')} ", "cursor")] if state.paused else []
    count = len(state_of.jobs(state))
    if count > 1:
        spans.append(
            Span("  " + tr("job {place} of {count}", place=state_of.job_index(state) + 1, count=count), "dim")
        )
    if state.fallen:
        count = len(state.fallen)
        text = ntr("{count} other fell", "{count} others fell", count, count=pen.numbers.integer(count))
        spans.append(Span(f"  {pen.glyphs.bad} {text}", "error"))
    return (*spans, Span(" ")) if spans else ()
