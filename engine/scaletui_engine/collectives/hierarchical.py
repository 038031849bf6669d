"""Hierarchical all-reduce: a ring inside every node, rings across nodes on pieces, a ring inside again."""

from __future__ import annotations

from scaletui_engine.collectives.ring import gather_steps, scatter_steps
from scaletui_engine.collectives.step import Procedure, Step, block, procedure
from scaletui_engine.errors import DivisibilityError
from scaletui_engine.validate.nearest import nearest_divisor


def hierarchical_all_reduce(ranks: int, elements: int, per_node: int) -> Procedure:
    """Only 1 / per_node of the array crosses nodes. Raises DivisibilityError for nodes that are not full."""
    if per_node < 1 or ranks % per_node:
        raise DivisibilityError(
            f"{ranks} ranks / {per_node} per node = {ranks / max(per_node, 1):.4g} nodes",
            f"{nearest_divisor(ranks, per_node)} per node",
        )
    nodes = [tuple(range(first, first + per_node)) for first in range(0, ranks, per_node)]
    inside = _together([scatter_steps(node, (0, elements)) for node in nodes])
    across = _together(
        [
            [*scatter_steps(lane, window), *gather_steps(lane, window)]
            for place in range(per_node)
            for lane in (tuple(node[place] for node in nodes),)
            for window in (block(elements, per_node, place),)
        ]
    )
    back = _together([gather_steps(node, (0, elements)) for node in nodes])
    return procedure("hierarchical all-reduce", ranks, elements, [*inside, *across, *back])


def _together(rings: list[list[Step]]) -> list[Step]:
    """Rings of the same length that turn at the same time."""
    return [Step(tuple(t for each in steps for t in each.transfers)) for steps in zip(*rings, strict=True)]
