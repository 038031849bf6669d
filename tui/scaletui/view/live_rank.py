"""One rank closely: its memory, its units, its past, what happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.live_details import event_rows, mesh_text
from scaletui.view.live_ranks import last_word, rank_row
from scaletui.view.live_trend import curve_rows
from scaletui.view.live_unseen import no_plan_text
from scaletui.view.live_wave import wave_rows
from scaletui.view.live_words import verdict_role, verdict_text
from scaletui.view.row import Row, Span, fit, row_width
from scaletui.view.rule import rule_row
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.judgement import headroom

if TYPE_CHECKING:
    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import Moment, RankView

MOST_EVENTS = 6
"""Rows of what happened, its title included, on a small screen."""
LEAST_CURVE = 4
"""Rows that the curve of the memory keeps."""


def rank_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds: the units get as many as they have, the curves the rest."""
    rank = state_of.rank(state)
    if rank is None or state.shown is None:
        return ()
    head = (
        _title(rank, box.width, pen),
        *rank_row(state, rank, box.width, pen),
        _facts(state, rank, box.width, pen),
        _plan(rank, box.width, pen),
    )
    events = tuple(event_rows(rank, box.width, pen))[1:MOST_EVENTS]
    room = box.height - len(head) - len(events)
    units = len(rank.plan.groups) if rank.plan is not None else 0
    wave = wave_rows(rank, Box(box.width, min(units + 3, max(room - LEAST_CURVE, 2))), pen)
    curves = curve_rows(state, Box(box.width, max(room - len(wave), 0)), pen)
    return (*head, *wave, *curves, *events)[: box.height]


def _title(rank: RankView, width: int, pen: Pen) -> Row:
    identity = rank.identity
    title = tr("rank {rank} of {count}", rank=identity.rank, count=identity.world_size)
    where = f"{identity.host}  {tr('process')} {identity.process.pid}"
    has_room = width_of(title) + width_of(where) + 8 < width
    return rule_row(title, width, pen, [(width - 1, where)] if has_room else [])


def _facts(state: LiveState, rank: RankView, width: int, pen: Pen) -> Row:
    assert state.shown is not None, "a rank is of a snapshot"
    room = headroom(rank)
    parts = [
        (verdict_text(rank.verdict), verdict_role(rank.verdict)),
        ("" if rank.step is None else tr("step {step}", step=pen.numbers.integer(rank.step)), "text"),
        ("" if not rank.step_ns else pen.numbers.seconds(rank.step_ns / 1e9), "text"),
        (
            "" if room is None else tr("{amount} free at the peak", amount=pen.numbers.size(max(room, 0))),
            "text",
        ),
        (_heard(rank, state.shown.moment, pen), "dim"),
        (rank.identity.device_uuid or rank.identity.device_type, "dim"),
    ]
    return _joined(parts, width)


def _heard(rank: RankView, moment: Moment, pen: Pen) -> str:
    """When it was last heard of."""
    told = last_word(rank, moment, pen)
    return told if rank.verdict.state is RankState.EXITED else tr("{age} ago", age=told)


def _plan(rank: RankView, width: int, pen: Pen) -> Row:
    """What the job says it runs."""
    plan = rank.plan
    if plan is None:
        return fit((Span(f" {no_plan_text(rank)}", "dim"),), width)
    dtypes = sorted({parameter.dtype for parameter in plan.parameters})
    optimizers = sorted({optimizer.name.rpartition(".")[2] for optimizer in plan.optimizers})
    elements = sum(_elements(parameter.shape) for parameter in plan.parameters)
    parts = [
        (plan.wrapper, "text"),
        (f"{tr('mesh')} {mesh_text(rank, pen)}" if plan.mesh_shape else "", "text"),
        (", ".join(optimizers), "text"),
        (tr("{count} parameters", count=pen.numbers.count(elements)), "text"),
        (", ".join(dtypes), "dim"),
    ]
    return _joined(parts, width)


def _elements(shape: tuple[int, ...]) -> int:
    found = 1
    for size in shape:
        found *= size
    return found


def _joined(parts: list[tuple[str, str]], width: int) -> Row:
    """The parts beside each other, as many as fit."""
    line: Row = (Span(" "),)
    for text, role in parts:
        if text and row_width(line) + width_of(text) + 2 <= width:
            line = (*line, Span(text, role), Span("  "))
    return fit(line, width)
