"""One row for each GPU as the driver sees it, with ranks or without: memory in layers, load, power, heat.

▶ 0 W  G  O   A      U  -- ===X  P  ·····┃ 61.2/80.0   97 %  612 W  67 C  rank 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.bars import Bar, track_row
from scaletui.view.budget_stages import window
from scaletui.view.cells import crop, left, right, width_of
from scaletui.view.live_bar import layer_parts
from scaletui.view.live_driver_words import (
    is_trouble,
    lack_text,
    lost_text,
    ranks_text,
    since_text,
    source_text,
    throttle_texts,
)
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui_engine.live.driver.layers import layers
from scaletui_engine.live.driver.matching import seats
from scaletui_engine.live.driver.reading import DriverState, Lack, NotAvailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.driver.layers import Layers
    from scaletui_engine.live.driver.matching import Seat
    from scaletui_engine.live.snapshot import Moment, Snapshot

SHORTEST_BAR: Final = 10
LONGEST_TAIL: Final = ((100, 0.2), (1 << 16, 0.3))
"""Up to that width, the share of it that ranks and warnings may take from the bars."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of one row."""

    seat: Seat
    found: Layers
    label: str
    note: str
    load: str
    power: str
    heat: str
    tail: str
    lost: str
    """Since when it does not answer; empty where it does."""
    is_warning: bool


@dataclass(frozen=True, slots=True)
class _Widths:
    label: int
    note: int
    load: int
    power: int
    heat: int
    tail: int

    def bar(self, width: int) -> int:
        """Cells for bar and capacity line: what the others leave."""
        words = self.label + self.note + self.load + self.power + self.heat + self.tail
        return max(width - words - 7, SHORTEST_BAR)


def driver_rows(snapshot: Snapshot, box: Box, pen: Pen, chosen: int | None = None) -> tuple[Row, ...]:
    """The title, then as many GPUs as fit, the chosen one among them; the title says how many do not."""
    found = seats(snapshot)
    if box.height < 1 or not found:
        return ()
    first, last = window(len(found), chosen or 0, box.height - 1)
    lines = [_line(found[place], place == chosen, snapshot.moment, pen) for place in range(first, last)]
    widths = _widths(lines, box.width)
    scale = max((line.found.total or line.found.used or 0 for line in lines), default=0)
    title = driver_title(snapshot, len(found) - len(lines), box.width, pen)
    return (title, *(_row(line, widths, (scale, box.width), pen) for line in lines))


def driver_title(snapshot: Snapshot, hidden: int, width: int, pen: Pen) -> Row:
    """How many GPUs of which kind, how many are not shown, and what is wrong with the driver."""
    views = snapshot.drivers
    names = {view.name for view in views if view.state is not DriverState.LOST}
    counted = ntr("{n} GPU", "{n} GPUs", len(views))
    kind = f": {names.pop()}" if len(names) == 1 else ""
    more = tr(", {hidden} more", hidden=hidden) if hidden > 0 else ""
    faults = [
        text for s in snapshot.sources if is_trouble(s) and (text := source_text(s, snapshot.moment, pen))
    ]
    if faults:
        return rule_row(Span(crop(f"{counted}{more}  {faults[0]}", width - 4), "warn"), width, pen)
    return rule_row(crop(f"{counted}{more}{kind}", width - 4, pen.glyphs.ellipsis), width, pen)


def gpu_label(seat: Seat) -> str:
    """NVML's index; of a MIG instance "index:GPU instance/compute instance"."""
    mig = seat.view.mig
    return (
        f"{seat.view.index}"
        if mig is None
        else f"{seat.view.index}:{mig.gpu_instance}/{mig.compute_instance}"
    )


def _line(seat: Seat, is_chosen: bool, moment: Moment, pen: Pen) -> _Line:
    view = seat.view
    is_lost = view.state is DriverState.LOST
    warnings = [] if is_lost else [*throttle_texts(view), *_ecc(seat, pen), *_foreign(seat)]
    old = "" if is_lost else since_text(view, moment, pen)
    tail = ", ".join(filter(None, (old, ranks_text(seat.ranks), *warnings)))
    return _Line(
        seat=seat,
        found=layers(seat.ranks, seat),
        label=f"{pen.glyphs.pointer if is_chosen else ' '}{gpu_label(seat):>2}",
        note=_memory(seat, pen),
        load="" if is_lost else _load(seat),
        power="" if is_lost else _figure(view.power_mw, 1000, "W"),
        heat="" if is_lost else _figure(view.temperature_c, 1, "C"),
        tail=tail,
        lost=lost_text(view, moment, pen) if is_lost else "",
        is_warning=bool(warnings or old),
    )


def _memory(seat: Seat, pen: Pen) -> str:
    used, total = seat.view.used, seat.view.total
    if isinstance(used, NotAvailable) or isinstance(total, NotAvailable):
        return ""
    return f"{pen.numbers.gib(used)}/{pen.numbers.gib(total)}"


def _load(seat: Seat) -> str:
    load = seat.view.utilization
    if isinstance(load, NotAvailable):
        return lack_text(load) if load.lack is Lack.MIG else "-"
    return f"{load} %"


def _figure(value: int | NotAvailable, scale: int, unit: str) -> str:
    return "-" if isinstance(value, NotAvailable) else f"{round(value / scale)} {unit}"


def _ecc(seat: Seat, pen: Pen) -> tuple[str, ...]:
    ecc = seat.view.ecc
    return (f"ECC {pen.numbers.integer(ecc)}",) if isinstance(ecc, int) and ecc else ()


def _foreign(seat: Seat) -> tuple[str, ...]:
    """Whether some process is numbered as another pid namespace numbers it."""
    listed = seat.view.processes
    is_foreign = isinstance(listed, tuple) and any(not process.here for process in listed)
    return (tr("pid not in this namespace"),) if is_foreign else ()


def _widths(lines: Sequence[_Line], width: int) -> _Widths:
    def widest(name: str, least: int = 0) -> int:
        return max([least, *(width_of(getattr(line, name)) for line in lines)])

    return _Widths(
        label=widest("label"),
        note=widest("note"),
        load=widest("load"),
        power=widest("power", width_of("1000 W")),
        heat=widest("heat"),
        tail=min(widest("tail"), int(width * next(share for most, share in LONGEST_TAIL if width < most))),
    )


def _row(line: _Line, widths: _Widths, scales: tuple[int, int], pen: Pen) -> Row:
    scale, width = scales
    cells = widths.bar(width)
    label = Span(left(line.label, widths.label) + " ", "accent" if line.label[0] != " " else "text")
    words = (
        f" {right(line.load, widths.load)} {right(line.power, widths.power)} {right(line.heat, widths.heat)} "
    )
    tail = Span(" " + left(line.tail, widths.tail, pen.glyphs.ellipsis), "warn" if line.is_warning else "dim")
    room = cells + widths.note + 1
    story = _story(line, room, pen)
    if story is not None:
        middle: Row = (Span(left(story.text, room, pen.glyphs.ellipsis), story.role),)
    else:
        bar = Bar("", layer_parts(line.found))
        total = line.found.total or 0
        track = track_row(bar, (total, max(scale, bar.total, 1)), cells - 1, pen)
        middle = (*track, Span(f" {right(line.note, widths.note)}"))
    return fit(merge((label, *middle, Span(words), tail)), width)


def _story(line: _Line, room: int, pen: Pen) -> Span | None:
    """What stands in place of a bar, where the driver tells no memory."""
    view = line.seat.view
    if view.state is DriverState.LOST:
        return Span(line.lost, "error")
    if view.host is not None:
        figures = {
            "total": pen.numbers.bytes(view.host.total),
            "available": pen.numbers.bytes(view.host.available),
        }
        long = tr("unified memory: host {total}, {available} free", **figures)
        return Span(long if width_of(long) <= room else tr("unified: host {total}", **figures))
    if isinstance(view.used, NotAvailable):
        return Span(lack_text(view.used), "dim")
    return None
