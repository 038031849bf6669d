"""The sharding screen: who holds what, the axes of the mesh, and the GPUs of the nodes with one group lit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import ntr, tr
from scaletui.view.budget_stages import window
from scaletui.view.cells import centre, left, width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui.view.table import Column, table_rows

if TYPE_CHECKING:
    from scaletui.state.mesh import AxisFacts, MeshLook
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen


def sharding_answer(look: MeshLook, width: int) -> Row:
    """What a rank holds of weights, gradients and optimizer, and what is whole on all of them."""
    whole = [tr(name) for name, ranks in look.shares if ranks == 1]
    parts = [f"1/{ranks} {tr('of')} {tr(name)}" for name, ranks in look.shares if ranks > 1]
    if not parts:
        return fit((Span(" " + tr("nothing is sharded by data parallelism"), "title"),), width)
    held = tr("a rank holds {parts}", parts=", ".join(parts))
    rest = f"   {tr('whole: {parts}', parts=', '.join(whole))}" if whole else ""
    return fit((Span(f" {held}", "title"), Span(rest, "dim")), width)


def axis_rows(look: MeshLook, box: Box, pen: Pen) -> tuple[Row, ...]:
    """A line for each axis: degree, groups, the chosen rank's group, and whether it leaves its domain."""
    title = tr("axes of the mesh, the fastest first; groups of rank {rank}", rank=look.rank)
    columns = (
        Column(" "),
        Column(tr("axis")),
        Column(tr("degree"), numeric=True),
        Column(tr("groups"), numeric=True, rank=1),
        Column(tr("nodes"), numeric=True),
        Column(tr("link")),
        Column(tr("ranks of the group"), shrinks=True),
    )
    lines = [_axis(axis, look, pen) for axis in look.axes]
    rows = (rule_row(title, box.width, pen), *table_rows(columns, lines, box.width, pen.glyphs.ellipsis))
    return rows[: box.height]


def _axis(axis: AxisFacts, look: MeshLook, pen: Pen) -> tuple[Span, ...]:
    role = "accent" if axis.name == look.axis.name else "text"
    mark = pen.glyphs.pointer if axis.name == look.axis.name else " "
    crosses = axis.crosses(look.rank)
    link = Span(f"{tr('network')} {pen.glyphs.bad}" if crosses else look.link, "warn" if crosses else role)
    return (
        Span(mark, "accent"),
        Span(axis.name, role),
        Span(pen.numbers.integer(axis.degree), role),
        Span(pen.numbers.integer(axis.groups), role),
        Span(pen.numbers.integer(axis.nodes(look.rank)), role),
        link,
        Span(_ranks(axis.members(look.rank)), role),
    )


def _ranks(members: range) -> str:
    if len(members) <= 6:
        return ", ".join(map(str, members))
    return f"{', '.join(map(str, members[:3]))}, ... {members[-1]}"


def node_rows(look: MeshLook, box: Box, pen: Pen) -> tuple[Row, ...]:
    """A row for each node, a cell for each GPU; the group of the chosen rank on the chosen axis is lit."""
    per_node, nodes = look.gpus_per_node, look.nodes
    room = max(box.height - 2, 1)
    first, last = window(nodes, look.rank // per_node, room)
    shown = tr("nodes {first} to {last} of {count}", first=first, last=last - 1, count=nodes)
    title = shown if last - first < nodes else ntr("{n} node", "{n} nodes", nodes)
    lit = look.axis.members(look.rank)
    head = tr("lit: the {axis} group of rank {rank}", axis=look.axis.name, rank=look.rank)
    label = width_of(tr("node {node}", node=nodes - 1)) + 2
    cell = max(min((box.width - label) // per_node, 12), width_of(str(look.world - 1)) + 1)
    fits = max((box.width - label) // cell, 1)
    rows = [rule_row(f"{title}; {head}", box.width, pen)]
    for node in range(first, last):
        ranks = range(node * per_node, min((node + 1) * per_node, look.world))
        cells = [_gpu(rank, cell, look, lit) for rank in ranks[:fits]]
        rest = [Span(pen.glyphs.ellipsis, "dim")] if len(ranks) > fits else []
        name = Span(left(f" {tr('node {node}', node=node)}", label), "dim")
        rows.append(fit((name, *cells, *rest), box.width))
    rows.append(fit((Span(" " + look.where(look.rank), "dim"),), box.width))
    return tuple(rows[: box.height])


def _gpu(rank: int, cell: int, look: MeshLook, lit: range) -> Span:
    role = "tile_fill" if rank % 2 else "tile_odd_fill"
    if rank in lit:
        role = "cursor" if rank == look.rank else "selection"
    return Span(centre(str(rank), cell), role)
