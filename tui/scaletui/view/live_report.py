"""A snapshot as plain text: every job with its answer, its ranks, and the comparison of the worst one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.live import LiveState
from scaletui.text.language import ntr
from scaletui.view.black_box import black_box_height, black_box_rows
from scaletui.view.box import Box
from scaletui.view.live_answer import answer_rows, header_facts
from scaletui.view.live_compare import compare_height, compare_rows
from scaletui.view.live_driver import driver_rows
from scaletui.view.live_driver_details import source_rows
from scaletui.view.live_empty import empty_rows
from scaletui.view.live_faults import fault_rows
from scaletui.view.live_ranks import ranks_rows
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import JobView, Snapshot

MOST_RANKS = 64
"""Ranks of a job that are printed; the worst is among them."""


def report_rows(snapshot: Snapshot, width: int, pen: Pen) -> Iterator[Row]:
    """Row by row; what to do where there is no job."""
    if not snapshot.jobs:
        yield from empty_rows(snapshot, Box(width, 40 + len(snapshot.drivers)), pen)
        return
    for job in snapshot.jobs:
        yield from _job(snapshot, job, width, pen)
        yield ()
    if snapshot.drivers:
        yield from driver_rows(snapshot, Box(width, len(snapshot.drivers) + 1), pen)
        yield ()
    yield from source_rows(snapshot, width, pen)
    yield from fault_rows(snapshot, width)
    yield from wrapped(_searched(snapshot), width, "dim")


def _job(snapshot: Snapshot, job: JobView, width: int, pen: Pen) -> Iterator[Row]:
    state = LiveState(shown=snapshot, newest=snapshot, job=job.id)
    yield fit((Span("  ".join(header_facts(state)), "title"),), width)
    yield from answer_rows(LiveState(shown=_alone(snapshot, job)), width, pen)
    yield from ranks_rows(state, Box(width, min(len(job.ranks), MOST_RANKS) + 1), pen)
    yield from compare_rows(state, Box(width, compare_height(state, width, pen)), pen)
    yield from black_box_rows(state, Box(width, min(black_box_height(state, width, pen), MOST_RANKS)), pen)


def _alone(snapshot: Snapshot, job: JobView) -> Snapshot:
    return type(snapshot)(snapshot.moment, (job,), snapshot.places, snapshot.faults)


def _searched(snapshot: Snapshot) -> str:
    return "  ".join(
        f"{place.path}: {ntr('{n} ring', '{n} rings', place.rings)}" for place in snapshot.places
    )
