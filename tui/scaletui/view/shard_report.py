"""The slices of a tensor as a page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.row import Row, Span
from scaletui.view.shard_work import common_texts, work_texts
from scaletui.view.sharding_parts import part_text
from scaletui.view.table import Column, table_rows
from scaletui_engine.sharding.fsdp2 import held_layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.intervals import Interval, Intervals
    from scaletui_engine.sharding.layout import Layout, Region
    from scaletui_engine.sharding.parameter_view import ParameterView, Piece

MOST: Final = 64
"""Ranks that a page lists; more are counted."""
Page = tuple[int, "Pen"]


def layout_rows(
    layout: Layout, ranks: Sequence[int], page: Page, holders: Sequence[int] | None
) -> tuple[Row, ...]:
    """Shape and mesh, a line for each rank, the empty ranks, and who holds the element asked for."""
    width, pen = page
    times = f" {pen.glyphs.times} "
    axes = [
        f"{axis.name} {axis.size} {placement}"
        for axis, placement in zip(layout.mesh.axes, layout.placements, strict=True)
    ]
    rows: list[Row] = [_line(f"{times.join(map(str, layout.shape))}   {', '.join(axes)}")]
    if layout.replicas > 1:
        rows.append(_line(tr("{n} replicas of every element", n=layout.replicas)))
    if layout.partials > 1:
        rows.append(_line(tr("partial: a value exists only once {n} ranks are summed", n=layout.partials)))
    rows.append(())
    full = [rank for rank in ranks if layout.numel(rank)]
    rows += _layout_table(layout, full[:MOST], width, pen)
    return (*rows, *_rest(full, ranks), *_really(layout, ranks), *_holders(holders))


def _really(layout: Layout, ranks: Sequence[int]) -> list[Row]:
    """The ranks that hold other slices than the placements say, where FSDP2 cut a dim after TP."""
    real = held_layout(layout)
    if real is None:
        return []
    wrong = [rank for rank in ranks if real.slices(rank) != layout.slices(rank)]
    if not wrong:
        return [_line(tr("FSDP2 cuts after TP: ranks hold what the placements say"))]
    head = tr("FSDP2 cuts after TP: {n} ranks hold other slices than the placements say", n=len(wrong))
    lines = [_line(tr("rank {rank} holds {slices}", rank=rank, slices=region_text(real.slices(rank))))
             for rank in wrong[:MOST]]  # fmt: skip
    return [_line(head), *lines]


def _layout_table(layout: Layout, ranks: Sequence[int], width: int, pen: Pen) -> tuple[Row, ...]:
    columns = (
        Column(tr("rank"), numeric=True),
        *(Column(name, numeric=True, rank=1) for name in layout.mesh.names),
        *(Column(tr("dim {n}", n=dim)) for dim in range(len(layout.shape))),
        Column(tr("elements"), numeric=True, rank=2),
    )
    lines = [
        (
            Span(str(rank)),
            *(Span(str(place)) for place in layout.mesh.coordinate(rank)),
            *(Span(shown(along)) for along in layout.slices(rank)),
            Span(pen.numbers.integer(layout.numel(rank))),
        )
        for rank in ranks
    ]
    return table_rows(columns, lines, width)


def parameter_rows(
    view: ParameterView, ranks: Sequence[int], page: Page, holders: Sequence[int] | None
) -> tuple[Row, ...]:
    """The parameter, a line for each rank with its bytes, the empty ranks, and who holds the element."""
    width, pen = page
    times = f" {pen.glyphs.times} "
    stages = _ranks(view.stages)
    head = f"{view.name}   {times.join(map(str, view.map.shape))}   {part_text(view.part)}"
    rows: list[Row] = [_line(head), _line(tr("stage {stage}", stage=stages)), ()]
    pieces = [view.piece(rank) for rank in ranks[: 4 * MOST]]
    full = [piece for piece in pieces if piece.numel]
    rows += _parameter_table(view, full[:MOST], width, pen)
    listed = [piece.rank for piece in full]
    known = [piece.rank for piece in pieces]
    rows += _rest(listed, known, len(ranks) - len(known))
    if view.map.layout.partials > 1:
        terms = view.map.layout.partials
        rows.append(_line(tr("partial: a value exists only once {n} ranks are summed", n=terms)))
    if even := common_texts(view):
        rows += map(_line, even)
    else:
        rows += [_line(f"{tr('rank {rank}', rank=piece.rank)}: {text}")
                 for piece in pieces[:MOST] for text in work_texts(view, piece.rank)]  # fmt: skip
    wrong = [rank for rank in known if not view.agrees(rank)]
    if wrong:
        rows.append(
            _line(tr("placements declare other slices than ranks hold: {ranks}", ranks=_ranks(wrong)))
        )
    return (*rows, *_holders(holders))


def _parameter_table(view: ParameterView, pieces: Iterable[Piece], width: int, pen: Pen) -> tuple[Row, ...]:
    columns = (
        Column(tr("rank"), numeric=True),
        *(Column(tr("dim {n}", n=dim)) for dim in range(len(view.map.shape))),
        Column(tr("run"), rank=1),
        Column(tr("elements"), numeric=True, rank=3),
        Column(tr("bytes"), numeric=True),
        Column(tr("with padding"), numeric=True, rank=2),
    )
    lines = [
        (
            Span(str(piece.rank)),
            *(Span(shown(along)) for along in piece.region),
            Span("" if piece.run is None else shown((piece.run,))),
            Span(pen.numbers.integer(piece.numel)),
            Span(pen.numbers.size(piece.numel * view.item)),
            Span(pen.numbers.size(piece.allocated * view.item)),
        )
        for piece in pieces
    ]
    return table_rows(columns, lines, width)


def shown(along: Intervals | tuple[Interval, ...]) -> str:
    """Half-open intervals: "0:4 8:12"; a hyphen where there are none."""
    return " ".join(f"{start}:{stop}" for start, stop in along) or "-"


def region_text(region: Region) -> str:
    """All dims of a region: "[0:4, 0:8]"."""
    return f"[{', '.join(map(shown, region))}]"


def _rest(full: Sequence[int], ranks: Sequence[int], unasked: int = 0) -> list[Row]:
    """How many ranks are not listed, those that nobody asked included, and which of them are empty."""
    rows: list[Row] = []
    if more := max(len(full) - MOST, 0) + unasked:
        rows.append(_line(ntr("{n} more rank", "{n} more ranks", more)))
    held = set(full)
    empty = [rank for rank in ranks if rank not in held]
    if empty:
        count = ntr("{n} empty rank", "{n} empty ranks", len(empty))
        rows.append(_line(f"{count}: {_ranks(empty)}"))
    return rows


def _holders(holders: Sequence[int] | None) -> list[Row]:
    return [] if holders is None else [_line(tr("held by ranks {ranks}", ranks=_ranks(holders)))]


def _ranks(ranks: Sequence[int]) -> str:
    """Runs of ranks: "3-7, 11"; the first dozen of them."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    texts = [str(low) if low == high else f"{low}-{high}" for low, high in runs]
    return ", ".join(texts[:12]) + (", ..." if len(texts) > 12 else "")


def _line(text: str) -> Row:
    return (Span(text),)
