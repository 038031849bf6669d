"""The mesh as nodes and their GPUs: the groups of one rank lit by letter, and who holds the same tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_lit import GROUPS, LETTERS, SAME, Lit, lit_of, row_ranks
from scaletui.state.sharding_nodes import NodeLine, node_lines
from scaletui.text.language import ntr, tr
from scaletui.view.budget_stages import window
from scaletui.view.cells import centre, crop, left, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui_engine.sharding.orders import mesh_of

if TYPE_CHECKING:
    from scaletui.state.sharding_sight import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.mesh import Axis, Mesh

SHORT: Final = {
    "dp_shard": "dp", "dp_replicate": "rep", "efsdp": "edp", "hpz_groups": "dp", "expert_replicate": "rep",
}  # fmt: skip
LABEL: Final = 19
"""Cells that a row's label may always take."""
BLANK: Final = 2
"""Cells of a rank that has no room for its number."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where what stands."""

    lines: tuple[NodeLine, ...]
    per_row: int
    """GPUs of a node."""
    label: int
    """Cells in front of the ranks."""
    cell: int
    """Cells of a rank."""
    first: int
    """First and one past the last GPU of a node that is shown."""
    last: int


def mesh_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title, the coordinates that go across, a row for each node, and what the letters mean."""
    lit, mesh = lit_of(sight), mesh_of(sight.scenario.plan.axes, sight.look.order)
    plan = _plan(sight, mesh, box, pen)
    rows: list[Row] = [rule_row(_title(lit, pen), box.width, pen), _heads(mesh, plan)]
    for line in plan.lines:
        if line.count:
            more = ntr("{n} node", "{n} nodes", line.count)
            rows.append((Span(f" {pen.glyphs.ellipsis} {more}", "dim"),))
        else:
            name = crop(_label(mesh, line.first, plan.per_row), plan.label - 1)
            rows.append((Span(left(f" {name}", plan.label), "dim"), *_node(lit, line.first, plan)))
    return tuple(fit(row, box.width) for row in (*rows, *_foot(lit, pen)))[: box.height]


def rank_at(sight: Sight, box: Box, where: tuple[int, int], pen: Pen) -> int | None:
    """The rank under a cell of the pane, as the order numbers it."""
    plan = _plan(sight, mesh_of(sight.scenario.plan.axes, sight.look.order), box, pen)
    line, place = where[1] - 2, plan.first + (where[0] - plan.label) // plan.cell
    if not 0 <= line < len(plan.lines) or plan.lines[line].count or not plan.first <= place < plan.last:
        return None
    rank = plan.lines[line].first * plan.per_row + place
    return rank if rank < sight.card.world else None


def _plan(sight: Sight, mesh: Mesh, box: Box, pen: Pen) -> _Plan:
    per_row = min(sight.scenario.cluster.gpus_per_node, sight.card.world)
    nodes, own = -(-sight.card.world // per_row), sight.look.rank // per_row
    room = max(box.height - 3 - len(_warnings(sight, pen)), 1)
    groups = [group.ranks for group in sight.card.groups] if sight.row is None else [row_ranks(sight)]
    reached = [dict.fromkeys(rank // per_row for rank in ranks) for ranks in groups]
    lines = node_lines(nodes, own, reached, room)
    labels = [width_of(_label(mesh, line.first, per_row)) for line in lines if not line.count]
    label = min(max([*labels, 0]) + 2, max(box.width - BLANK * per_row, LABEL))
    return _Plan(lines, per_row, label, *_cells(sight, box.width - label, per_row))


def _title(lit: Lit, pen: Pen) -> str:
    times = f" {pen.glyphs.times} "
    axes = times.join(f"{SHORT.get(axis.name, axis.name)} {axis.size}" for axis in _shown(lit)) or "1"
    return f"{tr('mesh')} {axes}   {lit.sight.look.order}"


def _shown(lit: Lit) -> list[Axis]:
    """Axes of more than one rank, in the order of the numbering where the axes are the plan's own."""
    own = mesh_of(lit.sight.scenario.plan.axes, lit.sight.look.order)
    mesh = own if set(own.names) == set(lit.mesh.names) else lit.mesh
    return [axis for axis in mesh.axes if axis.size > 1]


def _cells(sight: Sight, room: int, per_row: int) -> tuple[int, int, int]:
    """(cells of a rank, first of those shown of each row, one past the last); 2 cells hold no number."""
    wide = width_of(str(sight.card.world - 1)) + 2
    roomy = (wide + 1) * per_row <= room
    cell = wide + roomy if wide * per_row <= room else BLANK
    return cell, *window(per_row, sight.look.rank % per_row, max(room // cell, 1))


def _heads(mesh: Mesh, plan: _Plan) -> Row:
    """The coordinate that is the same in every row, where one axis alone runs across."""
    stride, names = 1, []
    for axis in reversed(mesh.axes):
        if axis.size > 1 and plan.per_row % (stride * axis.size) == 0:
            names.append((axis.name, stride, axis.size))
        stride *= axis.size
    heads = ""
    for column in range(plan.first, plan.last):
        text = "".join(f"{column // step % size}" for _, step, size in names[:1])
        heads += centre(text, plan.cell) if plan.cell > BLANK else left(text[-1:], plan.cell)
    title = SHORT.get(names[0][0], names[0][0]) if names else ""
    return (Span(left(f" {title}".rjust(plan.label - 1), plan.label), "dim"), Span(heads, "dim"))


def _label(mesh: Mesh, node: int, per_row: int) -> str:
    """The node, and the coordinates along its row that no head tells."""
    start = node * per_row
    stop = min(start + per_row, mesh.world)
    parts: list[str] = []
    stride = 1
    for axis in reversed(mesh.axes):
        span = stride * axis.size
        if axis.size > 1 and per_row % span:
            low, high = start // stride % axis.size, (stop - 1) // stride % axis.size
            name = SHORT.get(axis.name, axis.name)
            parts.insert(0, f"{name}{low}" if low == high else f"{name}{low}-{high}")
        stride = span
    return " ".join((tr("node {node}", node=node), *parts))


def _node(lit: Lit, node: int, plan: _Plan) -> Row:
    start = node * plan.per_row
    ranks = range(start + plan.first, min(start + plan.last, lit.sight.card.world))
    return merge(_rank(lit, rank, plan.cell) for rank in ranks)


def _rank(lit: Lit, rank: int, cell: int) -> Span:
    mark, chosen = lit.mark(rank), rank == lit.sight.look.rank
    role = "cursor" if chosen else "dim" if mark == " " else "warn" if lit.is_far(rank, mark) else "selection"
    if cell == BLANK:
        return Span(("@" if chosen else mark if mark != " " else "-") + " ", role)
    text = f"[{rank}]" if chosen else f"{rank}{mark}"
    return Span(centre(text, cell), role)


def _foot(lit: Lit, pen: Pen) -> list[Row]:
    row = lit.sight.row
    if row is not None:
        letter = GROUPS.get(row.group) or LETTERS[row.group]
        name = tr("the {axis} group of rank {rank}", axis=row.group, rank=lit.sight.look.rank)
        return [*_warnings(lit.sight, pen), (Span(f" {letter} {name}", "accent"),)]
    present = [f"{LETTERS[axis.name]} {SHORT.get(axis.name, axis.name)}" for axis in _shown(lit)]
    legend = "  ".join([*present, f"{SAME} {tr('same slice')}"])
    return [*_warnings(lit.sight, pen), (Span(f" {legend}", "dim"),)]


def _warnings(sight: Sight, pen: Pen) -> list[Row]:
    """TP over a network is the mistake that costs most, EP's the next."""
    return [
        (Span(f" {pen.glyphs.bad} " + tr("{axis} leaves NVLink: {n} of {all} groups",
              axis=group.name, n=group.leave_domain, all=group.count), "warn"),)
        for group in sight.card.groups if group.name in ("tp", "ep") and group.leave_domain
    ]  # fmt: skip
