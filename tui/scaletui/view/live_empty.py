"""What the live screen says when there is no job: every place it searched, and how to start one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import ntr, tr
from scaletui.view.box import Box
from scaletui.view.live_driver import driver_rows
from scaletui.view.live_driver_details import source_rows
from scaletui.view.live_faults import fault_rows
from scaletui.view.live_words import fault_text
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.live.discovery import Place
    from scaletui_engine.live.snapshot import Snapshot

RECIPES = (
    "scaletui run -- torchrun --nproc-per-node 8 train.py",
    "scaletui run -- python train.py",
    "scaletui demo fsdp --ranks 2",
)


def empty_rows(snapshot: Snapshot, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds; below them the GPUs, which need no job to be seen."""
    rows = tuple(_rows(snapshot, box.width, pen))
    left = box.height - len(rows)
    table = driver_rows(snapshot, Box(box.width, min(left, len(snapshot.drivers) + 1)), pen)
    gap = (fit((), box.width),) if table and left > len(table) else ()
    return (*rows, *gap, *table)[: box.height]


def _rows(snapshot: Snapshot, width: int, pen: Pen) -> Iterator[Row]:
    yield rule_row(tr("searched"), width, pen)
    for place in snapshot.places:
        yield from wrapped(place_text(place), width)
    yield from fault_rows(snapshot, width)
    yield from source_rows(snapshot, width, pen)
    yield from wrapped(tr("$SCALETUI_DIR or --dir name another folder."), width, "dim")
    yield fit((), width)
    yield rule_row(tr("to watch a job, start it with the probe in it"), width, pen)
    for recipe in RECIPES:
        yield fit((Span(f"   {recipe}", "key"),), width)
    yield from wrapped(
        tr("Nothing in the training code changes. A job that already runs cannot be joined."), width, "dim"
    )


def place_text(place: Place) -> str:
    """How the search of one folder went."""
    if place.fault is not None:
        return place.detail or f"{place.path} {fault_text(place.fault)}"
    return f"{place.path}: {ntr('{n} ring', '{n} rings', place.rings)}"
