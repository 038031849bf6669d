"""One GPU closely: its layers as sums, what the driver measures, and its processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.cells import crop
from scaletui.view.live_bar import equation_rows
from scaletui.view.live_driver import gpu_label
from scaletui.view.live_driver_words import (
    is_trouble,
    lack_text,
    lost_text,
    ranks_text,
    since_text,
    source_text,
    throttle_texts,
)
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui_engine.live.driver.layers import layers
from scaletui_engine.live.driver.matching import process_of, seats
from scaletui_engine.live.driver.reading import DriverState, NotAvailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.driver.matching import Seat
    from scaletui_engine.live.driver.reading import DriverProcess, DriverView, Figure
    from scaletui_engine.live.snapshot import Moment, RankView, Snapshot

WIDEST: Final = 76
"""A figure further from its name is not read as its own."""
MOST_PROCESSES: Final = 32


def driver_detail_rows(snapshot: Snapshot, chosen: int, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds, about the GPU in that place."""
    found = seats(snapshot)
    if not found:
        return ()
    seat = found[min(chosen, len(found) - 1)]
    rows = tuple(_rows(seat, snapshot, box.width, pen))[: box.height]
    return tuple(fit(row, box.width) for row in rows)


def rank_gpu_rows(rank: RankView, snapshot: Snapshot, width: int, pen: Pen) -> Iterator[Row]:
    """What the driver says of a rank's GPU, beside what the rank says; nothing where it does not know it."""
    for seat in seats(snapshot):
        if any(other.path == rank.path for other in seat.ranks):
            yield fit((), width)
            yield rule_row(f"GPU {gpu_label(seat)}", width, pen)
            if seat.view.state is DriverState.LOST:
                yield from wrapped(lost_text(seat.view, snapshot.moment, pen), width, "error")
            else:
                yield pair_row(tr("driver"), _told_bytes(seat.view.used, pen), width, pen)
                yield from _figures(seat.view, snapshot.moment, width, pen)
    for source in filter(is_trouble, snapshot.sources):
        yield from wrapped(source_text(source, snapshot.moment, pen), width, "warn")


def source_rows(snapshot: Snapshot, width: int, pen: Pen) -> Iterator[Row]:
    """What is wrong with each source that is not well."""
    for source in snapshot.sources:
        text = source_text(source, snapshot.moment, pen)
        if text:
            yield from wrapped(text, width, "dim")


def _rows(seat: Seat, snapshot: Snapshot, width: int, pen: Pen) -> Iterator[Row]:
    view, narrow = seat.view, min(width, WIDEST)
    title = "  ".join(filter(None, (f"GPU {gpu_label(seat)}", ranks_text(seat.ranks), view.uuid)))
    yield rule_row(crop(title, width - 4, pen.glyphs.ellipsis), width, pen)
    yield from equation_rows(layers(seat.ranks, seat), width, pen)
    if view.state is DriverState.LOST:
        yield from wrapped(lost_text(view, snapshot.moment, pen), width, "error")
    else:
        yield from _figures(view, snapshot.moment, narrow, pen)
        yield from _processes(seat, narrow, pen)
    yield pair_row(tr("name"), view.name, narrow, pen)
    yield from source_rows(snapshot, width, pen)


def _figures(view: DriverView, moment: Moment, width: int, pen: Pen) -> Iterator[Row]:
    if isinstance(view.used, NotAvailable):
        yield from wrapped(lack_text(view.used), width, "dim")
    load = _told(view.utilization, "{} %")
    heat = _told(view.temperature_c, "{} C")
    yield pair_row(tr("load, temperature"), f"{load}, {heat}", width, pen)
    yield pair_row(tr("power, limit"), f"{_watts(view.power_mw)}, {_watts(view.power_limit_mw)}", width, pen)
    held_back = ", ".join(throttle_texts(view)) or "-"
    yield pair_row(
        tr("clocks held down by"), Span(held_back, "text" if held_back == "-" else "warn"), width, pen
    )
    is_bad = isinstance(view.ecc, int) and view.ecc > 0
    errors = Span(_told(view.ecc, "{}"), "warn" if is_bad else "text")
    yield pair_row(tr("uncorrected ECC errors"), errors, width, pen)
    yield pair_row(tr("last answer"), since_text(view, moment, pen) or tr("new"), width, pen)


def _processes(seat: Seat, width: int, pen: Pen) -> Iterator[Row]:
    listed = seat.view.processes
    if isinstance(listed, NotAvailable):
        yield pair_row(tr("processes"), lack_text(listed), width, pen)
        return
    owners = {id(process_of(rank, seat)): rank.identity.rank for rank in seat.ranks}
    for process in listed[:MOST_PROCESSES]:
        used = "-" if isinstance(process.used, NotAvailable) else pen.numbers.bytes(process.used)
        yield pair_row(_whose(process, owners.get(id(process))), used, width, pen)
    if len(listed) > MOST_PROCESSES:
        yield fit(
            (Span(tr(" and {count} processes more", count=len(listed) - MOST_PROCESSES), "dim"),), width
        )


def _whose(process: DriverProcess, rank: int | None) -> str:
    """The pid, the rank that it is, and whether the pid is another namespace's."""
    words = [tr("process {pid}", pid=process.pid)]
    if rank is not None:
        words.append(tr("rank {rank}", rank=rank))
    if not process.here:
        words.append(tr("pid not in this namespace"))
    return ", ".join(words)


def _told_bytes(value: Figure, pen: Pen) -> str:
    return "-" if isinstance(value, NotAvailable) else pen.numbers.size(value)


def _told(value: Figure, form: str) -> str:
    return lack_text(value) if isinstance(value, NotAvailable) else form.format(value)


def _watts(value: Figure) -> str:
    return "-" if isinstance(value, NotAvailable) else f"{round(value / 1000)} W"
