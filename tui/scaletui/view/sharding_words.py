"""The sharding screen in words: the answer, what the cursor stands on, the groups of a rank."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_picture import MOST_LISTED, empty_ranks, held_with
from scaletui.text.language import ntr, tr
from scaletui.view.cells import crop, width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.shard_report import region_text
from scaletui.view.shard_work import work_texts
from scaletui.view.table import Column, table_rows
from scaletui_engine.sharding.notes import never_reduces
from scaletui_engine.sharding.orders import Order
from scaletui_engine.sharding.placement import Kind
from scaletui_engine.sharding.tensor_map import Flat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui.state.sharding_sight import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

LISTED: Final = 6
"""Ranks, or runs of ranks, that a line names."""
_NAMES: Final = {
    "dp_shard_cp": "fsdp", "tp_copy": "tp", "dp_shard": "dp", "dp_replicate": "rep", "efsdp": "edp",
    "dp_shard_tp": "tp,fsdp",
}  # fmt: skip
_READABLE: Final = 4
CURSOR: Final = 3
"""Rows that the words about the cursor take."""


def answer_row(sight: Sight, width: int, pen: Pen) -> Row:
    """Name and shape, placement, bytes a rank, links that groups cross; the placement gives way."""
    view = sight.view
    name = f" {view.name} {pen.glyphs.times.join(map(str, view.map.shape))}"
    held = pen.numbers.size(sight.piece.numel * view.item)
    bytes_text = tr("{size} a rank", size=held) if sight.piece.numel else tr("nothing on this rank")
    crossed = [_NAMES.get(group.name, group.name) for group in sight.card.groups if group.leave_domain]
    alone = tr("nothing is sent") if sight.card.world == 1 else tr("all NVLink")
    links = tr("network: {axes}", axes=" ".join(crossed)) if crossed else alone
    apart = never_reduces(sight.scenario.plan)
    links = tr("replicas never summed") if apart else links
    room = width - sum(map(width_of, (name, bytes_text, links))) - 6
    placed = crop(placement_text(sight), room, pen.glyphs.ellipsis) + "  " if room >= _READABLE else ""
    end = Span(links, "warn" if crossed or apart else "ok")
    return fit((Span(name, "title"), Span(f"  {placed}{bytes_text}  "), end), width)


def placement_text(sight: Sight) -> str:
    """Axes by placement, "tp,fsdp S(0)", in the order in which they cut; flat runs behind them."""
    found = sight.view.map
    axes = zip(found.layout.mesh.axes, found.layout.placements, strict=True)
    names: dict[str, list[str]] = {}
    for axis, how in reversed(tuple(axes)):
        name = _NAMES.get(axis.name, axis.name)
        shown = how.cuts or how.kind is Kind.PARTIAL
        if shown and axis.size > 1 and name not in names.setdefault(str(how), []):
            names[str(how)].append(name)
    parts = [f"{','.join(found)} {how}" for how, found in names.items() if found]
    parts += [] if found.flat is Flat.NONE or found.degree == 1 else [tr("runs / {n}", n=found.degree)]
    return " ".join(parts) or tr("whole on every rank")


def cursor_rows(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """Rank, coordinate, node; its slices; who else holds them; the ranks that are empty."""
    card = sight.card
    places = ", ".join(
        f"{name} {place}" for name, place in card.coordinate.items() if dict(card.axes)[name] > 1
    )
    where = tr("rank {rank}: {places}; node {node}, NVLink domain {domain}",
               rank=card.rank, places=places, node=card.node, domain=card.domain)  # fmt: skip
    if not places:
        where = tr("rank 0, the only one")
    rows = [rule_row(where, width, pen), fit((Span(f" {_slices(sight, pen)}"),), width)]
    texts = (_others(sight), *work_texts(sight.view, sight.rank), empty_text(sight))
    words = "; ".join(text for text in texts if text)
    rows.append(fit((*_differing(sight, pen), Span(f" {words}", "dim")), width))
    return tuple(rows)


def _differing(sight: Sight, pen: Pen) -> tuple[Span, ...]:
    """A warning where DTensor's placements declare other slices than the rank holds."""
    view = sight.view
    if view.agrees(sight.rank):
        return ()
    declared = region_text(view.map.declared.slices(sight.rank % view.stage_size))
    return (Span(f" {pen.glyphs.bad} {tr('torch declares {slices}', slices=declared)}", "warn"),)


def _slices(sight: Sight, pen: Pen) -> str:
    piece, view = sight.piece, sight.view
    if not piece.numel:
        if sight.rank // view.stage_size not in view.stages:
            return tr(
                "holds nothing: the parameter is on pipeline stage {stages}", stages=ranks_text(view.stages)
            )
        return tr("holds nothing of it")
    run = (
        ""
        if piece.run is None
        else " " + tr("elements {start}:{stop}", start=piece.run[0], stop=piece.run[1])
    )
    size, room = (pen.numbers.size(count * view.item) for count in (piece.numel, piece.allocated))
    padded = f" ({tr('{size} with padding', size=room)})" if piece.allocated > piece.numel else ""
    return tr("holds {slices}: {size}", slices=region_text(piece.region) + run, size=size + padded)


def _others(sight: Sight) -> str:
    held = held_with(sight.view, sight.rank)
    if held is None:
        return ""
    if held.count == 1:
        return tr("held by nobody else")
    terms = sight.view.map.layout.partials
    others = [sight.shown(rank) for rank in islice(held, LISTED + 1) if rank != sight.rank][:LISTED]
    rest = held.count - 1 - len(others)
    listed = ", ".join(map(str, sorted(others))) + (", ..." if rest > 0 else "")
    if terms > 1:
        return tr("one of {n} terms of a sum, the others on ranks {ranks}", n=terms, ranks=listed)
    return ntr("{n} replica: rank {ranks}", "{n} replicas: ranks {ranks}", held.count - 1, ranks=listed)


def empty_text(sight: Sight) -> str:
    """The ranks that hold none of the parameter, by number."""
    empty: Iterable[int] = empty_ranks(sight.view, sight.rank)
    if sight.look.order is Order.LLAMA3:
        empty = sorted(map(sight.shown, empty))
    empty = tuple(empty)
    if not empty:
        return tr("no rank is empty")
    count = ntr("{n} empty rank", "{n} empty ranks", len(empty))
    return f"{'>= ' if len(empty) == MOST_LISTED else ''}{count}: {ranks_text(empty)}"


def ranks_text(ranks: Iterable[int]) -> str:
    """Runs of ranks: "3-7, 11"; the first few of them."""
    runs: list[tuple[int, int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], rank)
        else:
            runs.append((rank, rank))
    texts = [str(low) if low == high else f"{low}-{high}" for low, high in runs]
    return ", ".join(texts[:LISTED]) + (", ..." if len(texts) > LISTED else "")


def details_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The second column: the rank's groups with their links, and its place under every numbering."""
    card = sight.card
    rows = [rule_row(tr("groups of rank {rank}", rank=card.rank), box.width, pen)]
    columns = (Column(tr("axis")), Column(tr("link")), Column(tr("ranks of the group"), shrinks=True))
    lines = [
        (
            Span(group.name, "accent"),
            Span("nvlink") if group.stays else Span(f"{tr('network')} {pen.glyphs.bad}", "warn"),
            Span(", ".join(map(str, group.ranks[:LISTED])) + (", ..." if group.size > LISTED else "")),
        )
        for group in card.groups
    ]
    rows += table_rows(columns, lines, box.width, pen.glyphs.ellipsis) if lines else ()
    rows += [fit((), box.width), *_placements(sight, box.width, pen)]
    rows += [
        rule_row(tr("rank {rank} as others number it", rank=card.rank), box.width, pen),
    ]
    for name, places in card.conventions.items():
        text = f"{name}: {' '.join(f'{axis} {place}' for axis, place in places.items())}"
        rows += wrapped(text, box.width, "accent" if name == card.order.value else "dim")
    return tuple(rows[: box.height])


def _placements(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """What DTensor declares where a strided shard has cut a dim before; nothing elsewhere."""
    declared = sight.view.map.declared
    if not any(placement.kind is Kind.STRIDED for placement in declared.placements):
        return ()
    pairs = zip(declared.mesh.axes, declared.placements, strict=True)
    text = ", ".join(f"{_NAMES.get(axis.name, axis.name)} {placement}" for axis, placement in pairs)
    return (rule_row(tr("placements that torch declares"), width, pen), *wrapped(text, width), fit((), width))
