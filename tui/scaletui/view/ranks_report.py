"""A mesh and one of its ranks as a page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.row import Row, Span
from scaletui.view.table import Column, table_rows

if TYPE_CHECKING:
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.rank_card import GroupCard, MeshCard

MOST: Final = 8
"""Ranks of a group that are listed by name."""


def rank_rows(card: MeshCard, width: int, pen: Pen) -> tuple[Row, ...]:
    """The mesh, the rank under every convention, and its groups with the links they leave."""
    times = f" {pen.glyphs.times} "
    axes = times.join(f"{name} {size}" for name, size in card.axes if size > 1) or "1"
    where = tr(
        "rank {rank}: node {node}, NVLink domain {domain}", rank=card.rank, node=card.node, domain=card.domain
    )
    return (
        _line(f"{axes} = {pen.numbers.integer(card.world)}   {card.order}"),
        _line(where),
        (),
        *_conventions(card, width),
        (),
        *_groups(card, width, pen),
        *_warnings(card),
    )


def _conventions(card: MeshCard, width: int) -> tuple[Row, ...]:
    columns = (Column(tr("order")), Column(tr("coordinate of rank {rank}", rank=card.rank)))
    lines = [
        (Span(name), Span(" ".join(f"{axis} {place}" for axis, place in places.items())))
        for name, places in card.conventions.items()
    ]
    return table_rows(columns, lines, width)


def _groups(card: MeshCard, width: int, pen: Pen) -> tuple[Row, ...]:
    columns = (
        Column(tr("axis")),
        Column(tr("ranks"), numeric=True),
        Column(tr("groups"), numeric=True, rank=1),
        Column(tr("off node"), numeric=True, rank=2),
        Column(tr("off domain"), numeric=True, rank=2),
        Column(tr("ranks of the group"), shrinks=True),
    )
    lines = [
        (
            Span(group.name),
            Span(pen.numbers.integer(group.size)),
            Span(pen.numbers.integer(group.count)),
            Span(pen.numbers.integer(group.leave_node)),
            Span(pen.numbers.integer(group.leave_domain)),
            Span(_members(group)),
        )
        for group in card.groups
    ]
    return table_rows(columns, lines, width, pen.glyphs.ellipsis)


def _members(group: GroupCard) -> str:
    listed = " ".join(map(str, group.ranks[:MOST]))
    return listed if len(group.ranks) <= MOST else f"{listed} ... {group.ranks[-1]}"


def _warnings(card: MeshCard) -> list[Row]:
    """Tensor and expert parallelism talk in every layer: they should not leave the fast links."""
    leaving = [group for group in card.groups if group.name in ("tp", "ep") and group.leave_domain]
    return [
        _line(
            tr(
                "{axis} leaves the NVLink domain in {n} of {all} groups",
                axis=group.name, n=group.leave_domain, all=group.count,
            )
        )
        for group in leaving
    ]  # fmt: skip


def _line(text: str) -> Row:
    return (Span(text),)
