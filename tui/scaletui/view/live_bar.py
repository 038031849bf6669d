"""The memory of a rank or a GPU as the parts of a bar in three layers, as equations, and as figures.

categories | inactive split, free segments | context and NCCL, other processes | room
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui.view.bars import chip
from scaletui.view.cells import width_of
from scaletui.view.live_words import CATEGORY_ROLES, category_name
from scaletui.view.row import Row, Span, fit, row_width
from scaletui_engine.live.driver.layers import device_memory, layers
from scaletui_engine.live.driver.matching import seats
from scaletui_engine.live.driver.reading import DriverState
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.view.pen import Pen
    from scaletui_engine.live.driver.layers import Layers
    from scaletui_engine.live.driver.matching import Seat
    from scaletui_engine.live.snapshot import RankView, Snapshot

STALE_S: Final = 5.0
"""A driver's figure that is older is not drawn beside an allocator's that is new."""
OUTSIDE: Final = N_("outside PyTorch {bytes} (context, NCCL, others)")


def seats_by_rank(snapshot: Snapshot) -> dict[str, Seat]:
    """The path of each rank's ring -> its GPU, where the driver answers for it and has done so just now."""
    return {
        rank.path: seat
        for seat in seats(snapshot)
        if seat.view.state is not DriverState.LOST and seat.view.age_s(snapshot.moment) <= STALE_S
        for rank in seat.ranks
    }


def capacity_of(rank: RankView, seat: Seat | None = None) -> int:
    """What the bar is held against: the device's memory; 0 without a device."""
    return device_memory((rank,), seat)[0] or 0


def held_by(rank: RankView) -> int:
    """Bytes in the counted categories, now or after the last step, whichever is more."""
    return max(rank.now.total, rank.measured.total)


def bar_parts(rank: RankView, seat: Seat | None = None) -> tuple[tuple[str, int], ...]:
    """One rank's layers; without a driver the device's figures are those that the rank asked CUDA for."""
    return layer_parts(layers((rank,), seat))


def layer_parts(found: Layers) -> tuple[tuple[str, int], ...]:
    """Categories, what the allocators keep beyond them, then what the driver gave to anybody else."""
    parts = tuple((CATEGORY_ROLES[name], amount or 0) for name, amount in found.held.items())
    kept = (("split", found.inactive_split), ("reserved", found.free_segments))
    if found.others is not None and found.own is not None:
        return (*parts, *kept, ("overhead", found.own), ("others", found.others))
    role = "overhead" if found.reserved else "others"
    return (*parts, *kept, (role, found.outside or 0))


def note_of(rank: RankView, pen: Pen) -> str:
    """Allocated / reserved / device in GiB, or what is held where there is no allocator."""
    allocator = rank.allocator
    if allocator is None or allocator.allocated is None:
        held = held_by(rank)
        return pen.numbers.size(held) if held else "-"
    figures = (allocator.allocated, allocator.reserved, rank.driver_total)
    return "/".join(pen.numbers.gib(figure) for figure in figures if figure is not None)


def equation_rows(found: Layers, width: int, pen: Pen) -> Iterator[Row]:
    """The layers as sums, each term with its chip: the legend of the bar. Sums of nothing are left out."""
    if found.used is not None and found.used < found.reserved:
        used, reserved = pen.numbers.size(found.used), pen.numbers.size(found.reserved)
        text = tr("driver {used}, reserved {reserved}: not of one moment", used=used, reserved=reserved)
        yield fit((Span(f" {text}", "dim"),), width)
    elif found.used is not None:
        yield from _sum(tr("driver"), found.used, _driver_terms(found, pen), (width, pen))
    if found.reserved:
        kept = (
            _term("split", tr("inactive split"), found.inactive_split, pen),
            _term("reserved", tr("free segments"), found.free_segments, pen),
        )
        active = (Span(f"{tr('active')} {pen.numbers.size(found.active)}"),)
        yield from _sum(tr("reserved"), found.reserved, (active, *kept), (width, pen))
        held = [
            _term(CATEGORY_ROLES[name], category_name(name), amount, pen)
            for name, amount in found.held.items()
            if amount
        ]
        yield from _sum(tr("active"), found.active, held, (width, pen))


def _driver_terms(found: Layers, pen: Pen) -> tuple[Row, ...]:
    reserved = (Span(f"{tr('reserved')} {pen.numbers.size(found.reserved)}"),)
    if not found.reserved:
        return (_term("others", tr("other processes"), found.used or 0, pen),)
    if found.own is None or found.others is None:
        text = tr(OUTSIDE, bytes=pen.numbers.size(found.outside or 0))
        return reserved, (chip("overhead", pen), Span(f" {text}"))
    own = _term("overhead", tr("context, NCCL"), found.own, pen)
    return reserved, own, _term("others", tr("other processes"), found.others, pen)


def _term(role: str, name: str, amount: int, pen: Pen) -> Row:
    is_pattern = role in ("split", "reserved")
    mark = Span(f" {pen.glyphs.shades[role]} ", fill(role)) if is_pattern else chip(role, pen)
    return (mark, Span(f" {name} {pen.numbers.size(amount)}"))


def _sum(name: str, total: int, terms: Sequence[Row], place: tuple[int, Pen]) -> Iterator[Row]:
    """ "name total = term + term", wrapped between terms under the first one."""
    width, pen = place
    head = f" {name} {pen.numbers.size(total)} = "
    line: list[Span] = [Span(head, "dim")]
    for index, term in enumerate(terms):
        plus = (Span(" + ", "dim"),) if index else ()
        if index and row_width((*line, *plus, *term)) > width:
            yield fit(tuple(line), width)
            line = [Span(" " * (width_of(head) - 2) + "+ ", "dim"), *term]
        else:
            line += [*plus, *term]
    yield fit(tuple(line), width)
