"""Which nodes are drawn where there is room for a few: the rank's own, and those its groups reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One line of the mesh: a node, or a stretch of nodes that is left out."""

    first: int
    count: int = 0
    """Nodes that are left out; 0 for a node that is drawn."""


def node_lines(nodes: int, chosen: int, reached: Sequence[Iterable[int]], room: int) -> tuple[NodeLine, ...]:
    """At most `room` lines: all nodes, or the chosen one, nodes of its groups, and what lies around them.

    `reached` holds the nodes of each group, ascending; groups of few nodes are drawn first.
    """
    if nodes <= room:
        return tuple(map(NodeLine, range(nodes)))
    if room < _LEAST:
        return (NodeLine(chosen),)
    kept = {chosen}
    wanted = [*sorted(map(list, reached), key=len), list(_around(nodes, chosen))]
    for place, group in enumerate(wanted, 1):
        # A share of the lines each, so that a group far apart leaves room for those that lie close.
        share = max(room * place // len(wanted), _LEAST)
        for node in _nearest_first(group, chosen):
            if len(_lines(nodes, kept | {node})) > share:
                break
            kept.add(node)
    return _lines(nodes, kept)


def _nearest_first(nodes: Iterable[int], chosen: int) -> list[int]:
    return sorted(nodes, key=lambda node: (abs(node - chosen), node))[:_MOST]


def _around(nodes: int, chosen: int) -> range:
    return range(max(chosen - _MOST, 0), min(chosen + _MOST, nodes))


def _lines(nodes: int, kept: set[int]) -> tuple[NodeLine, ...]:
    found: list[NodeLine] = []
    behind = 0
    for node in (*sorted(kept), nodes):
        if node > behind:
            found.append(NodeLine(behind, node - behind))
        if node < nodes:
            found.append(NodeLine(node))
        behind = node + 1
    return tuple(found)


_LEAST = 3
"""Lines of a group at least: the chosen node, a stretch that is left out, and one more node."""
_MOST = 64
"""Nodes of a group that are looked at: more than any screen has lines."""
