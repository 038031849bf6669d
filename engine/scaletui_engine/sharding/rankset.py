"""Ranks that share some coordinates, without a list of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.sharding.mesh import strides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.sharding.mesh import Mesh


@dataclass(frozen=True, slots=True)
class RankSet:
    """The ranks of a mesh at fixed places on some axes and anywhere on the others."""

    mesh: Mesh
    fixed: tuple[int | None, ...]
    """One entry for each axis; None is anywhere."""

    def __len__(self) -> int:
        """How many ranks there are."""
        free = (size for size, place in zip(self.mesh.shape, self.fixed, strict=True) if place is None)
        return prod(free)

    def __iter__(self) -> Iterator[int]:
        """Ascending."""
        moves = [
            range(0, size * step, step) if place is None else (place * step,)
            for size, step, place in zip(self.mesh.shape, strides(self.mesh.shape), self.fixed, strict=True)
        ]
        return (sum(move) for move in product(*moves))

    def __contains__(self, rank: object) -> bool:
        if not isinstance(rank, int) or not 0 <= rank < self.mesh.world:
            return False
        places = self.mesh.coordinate(rank)
        return all(fixed in (None, place) for fixed, place in zip(self.fixed, places, strict=True))

    def both(self, other: RankSet) -> RankSet | None:
        """The ranks in both sets; None where a fixed place differs."""
        found: list[int | None] = []
        for one, two in zip(self.fixed, other.fixed, strict=True):
            if None not in (one, two) and one != two:
                return None
            found.append(two if one is None else one)
        return RankSet(self.mesh, tuple(found))
