"""The collectives that can be played: their algorithms, what counts as done, their phases and their volume.

Sources of the volumes: Thakur, Rabenseifner and Gropp, IJHPCA 2005; Patarasuk and Yuan, 2009.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.collectives.player import Player, block_starts
from scaletui_engine.collectives.registry import build
from scaletui_engine.collectives.step import block
from scaletui_engine.collectives.wire import Collective

if TYPE_CHECKING:
    from scaletui_engine.collectives.player import Held
    from scaletui_engine.collectives.step import Procedure

FAMILY: Final = {
    Collective.ALL_REDUCE: (
        "ring-all-reduce", "tree-all-reduce", "halving-all-reduce", "doubling-all-reduce",
        "hierarchical-all-reduce",
    ),
    Collective.ALL_GATHER: ("ring-all-gather",),
    Collective.REDUCE_SCATTER: ("ring-reduce-scatter",),
    Collective.BROADCAST: ("ring-broadcast", "tree-broadcast"),
    Collective.ALL_TO_ALL: ("all-to-all",),
}  # fmt: skip
"""Collective -> its procedures, the one that is shown first in front."""
_POWERS: Final = ("halving-all-reduce", "doubling-all-reduce")
_TREES: Final = ("tree-all-reduce", "tree-broadcast", "doubling-all-reduce")
_COPIES: Final = (Collective.ALL_GATHER, Collective.BROADCAST)


@dataclass(frozen=True, slots=True)
class Volume:
    """What the rank that sends most has sent at the end, as a multiple of the payload."""

    text: str
    """As people write it: "2(n-1)/n"."""
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Played:
    """A collective on a group of ranks."""

    name: str
    """One of the registry's."""
    ranks: int
    payload: int
    """Bytes of a rank's whole array."""
    per_node: int = 1
    """Ranks that share the fast links, when the group leaves them; the members lie node by node."""

    @property
    def op(self) -> Collective:
        """What the group does."""
        return op_of(self.name)

    @property
    def algorithm(self) -> str:
        """How: "ring", "tree", "halving", "doubling", "hierarchical" or "direct"."""
        return "direct" if self.op is Collective.ALL_TO_ALL else self.name.partition("-")[0]

    @property
    def nodes(self) -> int:
        """Groups of ranks that share the fast links."""
        return -(-self.ranks // self.per_node)

    def crosses(self, source: int, target: int) -> bool:
        """Whether a message leaves the fast links."""
        return source // self.per_node != target // self.per_node


@cache
def op_of(name: str) -> Collective:
    """The collective that a procedure is one of."""
    return next(op for op, names in FAMILY.items() if name in names)


def is_valid(name: str, ranks: int, per_node: int) -> bool:
    """Whether the procedure takes so many ranks."""
    if name in _POWERS:
        return ranks & (ranks - 1) == 0
    return name != "hierarchical-all-reduce" or (1 < per_node < ranks and ranks % per_node == 0)


def names_of(op: Collective, ranks: int, per_node: int) -> tuple[str, ...]:
    """The procedures of a collective that take so many ranks; there is always one."""
    return tuple(name for name in FAMILY[op] if is_valid(name, ranks, per_node))


def player_of(played: Played) -> Player:
    """The frames, an element a byte. Raises ValueRangeError and DivisibilityError as `build` does."""
    procedure = build(played.name, played.ranks, played.payload, played.per_node)
    return Player(procedure, 1, _first(played, procedure))


def is_done(played: Played, bits: int, owner: int) -> bool:
    """Whether a block holds what it shall: all ranks' values, the one copy, or what its owner sent.

    `owner` is the rank that the block's place belongs to (`owners`).
    """
    if played.op in _COPIES:
        return bits != 0
    if played.op is Collective.ALL_TO_ALL:
        return bits == 1 << owner
    return bits == (1 << played.ranks) - 1


def owners(player: Player) -> tuple[int, ...]:
    """For every block the rank whose n-th of the array it lies in."""
    return _owners(player.procedure, player.starts)


def volume(played: Played) -> Volume:
    """The formula of the rank that sends most; equal to its steps' bytes where n divides the payload."""
    n, name = played.ranks, played.name
    if name in _TREES:
        steps = (n - 1).bit_length()
        power = n & (n - 1) == 0
        return Volume("log2 n" if power else "ceil(log2 n)", Fraction(steps))
    if name == "ring-broadcast":
        return Volume("1", Fraction(int(n > 1)))
    share = Fraction(n - 1, n)
    return Volume("2(n-1)/n", 2 * share) if played.op is Collective.ALL_REDUCE else Volume("(n-1)/n", share)


def phases(played: Played) -> tuple[tuple[str, int], ...]:
    """(message id, steps) of every phase, in their order."""
    n, g = played.ranks, played.per_node
    turns, levels = n - 1, (n - 1).bit_length()
    return {
        "ring-all-reduce": (("ring_scatter", turns), ("ring_gather", turns)),
        "tree-all-reduce": (("tree_up", levels), ("tree_down", levels)),
        "halving-all-reduce": (("halving", levels), ("halving_back", levels)),
        "doubling-all-reduce": (("doubling", levels),),
        "hierarchical-all-reduce": (
            ("inside_scatter", g - 1), ("across_scatter", n // g - 1), ("across_gather", n // g - 1),
            ("inside_gather", g - 1),
        ),
        "ring-all-gather": (("ring_gather", turns),),
        "ring-reduce-scatter": (("ring_scatter", turns),),
        "ring-broadcast": (("ring_pipeline", max(2 * n - 2, 0)),),
        "tree-broadcast": (("tree_down", levels),),
        "all-to-all": (("exchange", turns),),
    }[played.name]  # fmt: skip


def phase_at(played: Played, index: int) -> str:
    """The phase that a frame's messages belong to; "start" before the first step."""
    if index == 0:
        return "start"
    for name, steps in phases(played):
        index -= steps
        if index <= 0:
            return name
    return "end"


def _first(played: Played, procedure: Procedure) -> Held | None:
    """A gather begins with a rank's own block alone, a broadcast with rank 0's array."""
    starts = block_starts(procedure)
    if played.op is Collective.ALL_GATHER:
        places = _owners(procedure, starts)
        return tuple(tuple((1 << rank) * (owner == rank) for owner in places) for rank in range(played.ranks))
    if played.op is Collective.BROADCAST:
        return tuple((int(rank == 0),) * len(starts) for rank in range(played.ranks))
    return None


def _owners(procedure: Procedure, starts: tuple[int, ...]) -> tuple[int, ...]:
    ends = [block(procedure.elements, procedure.ranks, rank)[1] for rank in range(procedure.ranks)]
    return tuple(min(bisect_right(ends, start), procedure.ranks - 1) for start in starts)
