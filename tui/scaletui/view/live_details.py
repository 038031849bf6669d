"""The second column: the rank's process and device, its allocator, and the other jobs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.text.language import N_, tr
from scaletui.view.cells import crop, width_of
from scaletui.view.live_answer import short_command
from scaletui.view.live_driver_details import rank_gpu_rows
from scaletui.view.live_forecast import forecast_rows
from scaletui.view.live_words import category_name, reason_text, state_name, verdict_role, verdict_text
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.header import Identity
    from scaletui_engine.live.snapshot import RankView

MOST_EVENTS: Final = 6
_EVENTS: Final = MappingProxyType(
    {
        Event.START: N_("the probe began"),
        Event.OOM: N_("out of memory: {asked} asked for"),
        Event.EXCEPTION: N_("exception {text}"),
        Event.EXIT: N_("the interpreter ended"),
        Event.ALLOC_RETRY: N_("the allocator tried again, {count} times"),
        Event.QUIET: N_("the probe gave up: {text}"),
    }
)
_ALLOCATOR: Final = (
    ("allocated", N_("allocated")),
    ("active", N_("active")),
    ("reserved", N_("reserved")),
    ("inactive_split", N_("inactive split")),
    ("peak", N_("peak allocated")),
    ("reserved_peak", N_("peak reserved")),
)


def details_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds."""
    rank = state_of.rank(state)
    if rank is None:
        return ()
    rows = [
        rule_row(tr("rank {rank}", rank=rank.identity.rank), box.width, pen),
        *_process(rank, box.width, pen),
        fit((), box.width),
        rule_row(tr("allocator"), box.width, pen),
        *_allocator(rank, box.width, pen),
        *(rank_gpu_rows(rank, state.shown, box.width, pen) if state.shown else ()),
        *forecast_rows(rank, box.width, pen),
        *event_rows(rank, box.width, pen),
        fit((), box.width),
        rule_row(tr("jobs"), box.width, pen),
        *_jobs(state, box.width, pen),
    ]
    return tuple(rows[: box.height])


def _process(rank: RankView, width: int, pen: Pen) -> Iterator[Row]:
    identity = rank.identity
    yield pair_row(tr("state"), Span(verdict_text(rank.verdict), verdict_role(rank.verdict)), width, pen)
    yield pair_row(tr("process"), str(identity.process.pid), width, pen)
    yield pair_row(tr("launcher"), str(identity.launcher.pid), width, pen)
    yield pair_row(tr("host"), identity.host, width, pen)
    yield pair_row(tr("device"), _device(identity, width - width_of(tr("device")) - 4, pen), width, pen)
    yield pair_row("PyTorch", identity.torch_version, width, pen)
    if rank.plan is not None:
        yield pair_row(tr("wrapper"), rank.plan.wrapper, width, pen)
        yield pair_row(tr("mesh"), mesh_text(rank, pen), width, pen)
        optimizers = {optimizer.name.rpartition(".")[2] for optimizer in rank.plan.optimizers}
        yield pair_row(tr("optimizer"), ", ".join(sorted(optimizers)), width, pen)
    if rank.host_rss is not None:
        yield pair_row(tr("resident memory"), pen.numbers.size(rank.host_rss), width, pen)
    if rank.errors:
        yield pair_row(tr("errors of the probe"), Span(str(rank.errors), "warn"), width, pen)


def _device(identity: Identity, room: int, pen: Pen) -> str:
    """The GPU by its UUID, of which the beginning is what people compare."""
    return crop(identity.device_uuid or identity.device_type, room, pen.glyphs.ellipsis)


def mesh_text(rank: RankView, pen: Pen) -> str:
    """The axes of the job's mesh with their sizes."""
    plan = rank.plan
    if plan is None or not plan.mesh_shape:
        return "-"
    names = plan.mesh_names or ("",) * len(plan.mesh_shape)
    axes = (f"{name} {size}".strip() for name, size in zip(names, plan.mesh_shape, strict=False))
    return f" {pen.glyphs.times} ".join(axes)


def _allocator(rank: RankView, width: int, pen: Pen) -> Iterator[Row]:
    if rank.allocator is None:
        yield from wrapped(reason_text(rank.allocator_reason), width, "dim")
        return
    for name, label in _ALLOCATOR:
        amount = getattr(rank.allocator, name)
        yield pair_row(tr(label), "-" if amount is None else pen.numbers.size(amount), width, pen)
    if rank.driver_free is not None:
        yield pair_row(tr("free on the device"), pen.numbers.size(rank.driver_free), width, pen)
    for label, count in ((tr("retries"), rank.allocator.retries), (tr("out of memory"), rank.allocator.ooms)):
        if count:
            yield pair_row(label, Span(pen.numbers.integer(count), "warn"), width, pen)


def event_rows(rank: RankView, width: int, pen: Pen) -> Iterator[Row]:
    """What happened, the newest first; of an out-of-memory what was asked for and what was held."""
    told = [happening for happening in reversed(rank.happenings) if happening.event in _EVENTS]
    if told:
        yield fit((), width)
        yield rule_row(tr("events"), width, pen)
    for happening in told[:MOST_EVENTS]:
        step = "-" if happening.step is None else pen.numbers.integer(happening.step)
        asked = pen.numbers.size(max(happening.values[0], 0))
        text = tr(_EVENTS[happening.event], text=happening.text, asked=asked, count=happening.values[0])
        role = "dim" if happening.event in (Event.START, Event.EXIT) else "warn"
        yield pair_row(Span(text, role), tr("step {step}", step=step), width, pen)
        if happening.event is Event.OOM:
            held = ((category_name(name), amount) for name, amount in happening.held.items() if amount)
            for name, amount in held:
                yield pair_row(f"  {name}", pen.numbers.size(amount), width, pen)


def _jobs(state: LiveState, width: int, pen: Pen) -> Iterator[Row]:
    for index, job in enumerate(state_of.jobs(state)):
        is_chosen = index == state_of.job_index(state)
        mark = pen.glyphs.pointer if is_chosen else " "
        label = f"{mark}{short_command(job.identity.command)}"
        name = Span(label, "accent" if is_chosen else "text")
        yield pair_row(name, Span(state_name(job.state), "dim"), width, pen)
    faults = state.shown.faults if state.shown else ()
    if faults:
        yield fit((Span(" " + tr("{count} files could not be read", count=len(faults)), "warn"),), width)
