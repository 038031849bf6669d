"""Every procedure by name, for the command line and the player."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from scaletui_engine.collectives.hierarchical import hierarchical_all_reduce
from scaletui_engine.collectives.ring import (
    direct_all_to_all,
    ring_all_gather,
    ring_all_reduce,
    ring_broadcast,
    ring_reduce_scatter,
)
from scaletui_engine.collectives.tree import (
    doubling_all_reduce,
    halving_all_reduce,
    tree_all_reduce,
    tree_broadcast,
)
from scaletui_engine.errors import UnknownNameError, ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.collectives.step import Procedure

_SIMPLE: Final[dict[str, Callable[[int, int], Procedure]]] = {
    "ring-all-reduce": ring_all_reduce,
    "tree-all-reduce": tree_all_reduce,
    "doubling-all-reduce": doubling_all_reduce,
    "halving-all-reduce": halving_all_reduce,
    "ring-all-gather": ring_all_gather,
    "ring-reduce-scatter": ring_reduce_scatter,
    "ring-broadcast": ring_broadcast,
    "tree-broadcast": tree_broadcast,
    "all-to-all": direct_all_to_all,
}
NAMES: Final = (*_SIMPLE, "hierarchical-all-reduce")
MOST_RANKS: Final = 4096
"""Beyond this the list of messages is no longer something to look at."""


def build(name: str, ranks: int, elements: int, per_node: int = 8) -> Procedure:
    """The steps of a collective. Raises UnknownNameError, ValueRangeError and DivisibilityError."""
    if name not in NAMES:
        raise UnknownNameError("collective", name, NAMES)
    if not 1 <= ranks <= MOST_RANKS:
        raise ValueRangeError(f"{ranks} ranks are not in 1 <= ranks <= {MOST_RANKS}")
    if elements < 0:
        raise ValueRangeError(f"{elements} elements: an array has none or more")
    make = _SIMPLE.get(name) or partial(hierarchical_all_reduce, per_node=min(per_node, ranks))
    return make(ranks, elements)
