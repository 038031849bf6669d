"""The mesh as nodes and their GPUs: the groups of one rank lit by letter, and who holds the same tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_picture import held_with
from scaletui.state.sharding_sight import holds
from scaletui.text.language import tr
from scaletui.view.budget_stages import window
from scaletui.view.cells import centre, crop, left, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui_engine.sharding.orders import mesh_of

if TYPE_CHECKING:
    from scaletui.state.sharding_sight import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.holders import Holders
    from scaletui_engine.sharding.mesh import Mesh

LETTERS: Final = {"tp": "t", "cp": "c", "dp_shard": "d", "dp_replicate": "r", "pp": "p"}
"""Axis -> the letter behind the ranks of the chosen rank's group."""
SHORT: Final = {"dp_shard": "dp", "dp_replicate": "rep"}
SAME: Final = "="
LABEL: Final = 19
"""Cells that a row's label may always take."""


@dataclass(frozen=True, slots=True)
class _Lit:
    """What stands behind the ranks."""

    sight: Sight
    mesh: Mesh
    place: tuple[int, ...]
    """Coordinate of the chosen rank."""
    held: Holders | None
    """The ranks of its tile."""

    def mark(self, rank: int) -> str:
        """ "=" for the same tile, a letter for a group of the chosen rank, a blank for neither."""
        if holds(self.held, self.sight.counted(rank)):
            return SAME
        other = self.mesh.coordinate(rank)
        differ = [index for index, place in enumerate(self.place) if other[index] != place]
        return LETTERS[self.mesh.names[differ[0]]] if len(differ) == 1 else " "


def mesh_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title, the coordinates that go across, a row for each node, and what the letters mean."""
    lit = _lit(sight)
    axes = f" {pen.glyphs.times} ".join(f"{SHORT.get(a, a)} {n}" for a, n in sight.card.axes if n > 1) or "1"
    title = f"{tr('mesh')} {axes}   {sight.look.order}"
    per_row = min(sight.scenario.cluster.gpus_per_node, sight.card.world)
    nodes = -(-sight.card.world // per_row)
    room = max(box.height - 3 - len(_warnings(sight, pen)), 1)
    first, last = window(nodes, sight.look.rank // per_row, room)
    labels = {node: _label(lit.mesh, node, per_row) for node in range(first, last)}
    label = min(
        max([width_of(text) for text in labels.values()] or [0]) + 2, max(box.width - 2 * per_row, LABEL)
    )
    cells = _cells(sight, box.width - label, per_row)
    rows: list[Row] = [rule_row(title, box.width, pen), _heads(lit.mesh, per_row, label, cells)]
    for node in range(first, last):
        name = Span(left(f" {crop(labels[node], label - 1)}", label), "dim")
        rows.append((name, *_node(lit, node, per_row, cells)))
    return tuple(fit(row, box.width) for row in (*rows, *_foot(lit, pen)))[: box.height]


def _lit(sight: Sight) -> _Lit:
    mesh = mesh_of(sight.scenario.plan.axes, sight.look.order)
    return _Lit(sight, mesh, mesh.coordinate(sight.look.rank), held_with(sight.view, sight.rank))


def _cells(sight: Sight, room: int, per_row: int) -> tuple[int, int, int]:
    """(cells of a rank, first of those shown of each row, one past the last); 2 cells hold no number."""
    wide = width_of(str(sight.card.world - 1)) + 2
    roomy = (wide + 1) * per_row <= room
    cell = wide + roomy if wide * per_row <= room else 2
    first, last = window(per_row, sight.look.rank % per_row, max(room // cell, 1))
    return cell, first, last


def _heads(mesh: Mesh, per_row: int, label: int, cells: tuple[int, int, int]) -> Row:
    """The coordinate that is the same in every row, where one axis alone runs across."""
    cell, first, last = cells
    stride, names = 1, []
    for axis in reversed(mesh.axes):
        if axis.size > 1 and per_row % (stride * axis.size) == 0:
            names.append((axis.name, stride, axis.size))
        stride *= axis.size
    heads = ""
    for column in range(first, last):
        text = "".join(f"{column // step % size}" for _, step, size in names[:1])
        heads += centre(text, cell)
    title = SHORT.get(names[0][0], names[0][0]) if names else ""
    return (Span(left(f" {title}".rjust(label), label), "dim"), Span(heads, "dim"))


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


def _node(lit: _Lit, node: int, per_row: int, cells: tuple[int, int, int]) -> Row:
    cell, first, last = cells
    start = node * per_row
    ranks = range(start + first, min(start + last, lit.mesh.world))
    return merge(_rank(lit, rank, cell) for rank in ranks)


def _rank(lit: _Lit, rank: int, cell: int) -> Span:
    mark, chosen = lit.mark(rank), rank == lit.sight.look.rank
    role = "cursor" if chosen else "selection" if mark != " " else "dim"
    if cell == 2:
        return Span(("@" if chosen else mark if mark != " " else "-") + " ", role)
    text = f"[{rank}]" if chosen else f"{rank}{mark}"
    return Span(centre(text, cell), role)


def _foot(lit: _Lit, pen: Pen) -> list[Row]:
    axes = [axis.name for axis in lit.mesh.axes if axis.size > 1]
    present = [f"{LETTERS[name]} {SHORT.get(name, name)}" for name in axes]
    legend = "  ".join([*present, f"{SAME} {tr('same slice')}"])
    return [*_warnings(lit.sight, pen), (Span(f" {legend}", "dim"),)]


def _warnings(sight: Sight, pen: Pen) -> list[Row]:
    """TP over a network is the mistake that costs most."""
    return [
        (Span(f" {pen.glyphs.bad} " + tr("{axis} leaves the NVLink domain: {n} of {all} groups",
              axis=group.name, n=group.leave_domain, all=group.count), "warn"),)
        for group in sight.card.groups if group.name == "tp" and group.leave_domain
    ]  # fmt: skip
