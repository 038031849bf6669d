"""A mesh of ranks: axes with sizes, coordinates both ways, and the groups of every axis."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd, prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ParseError, UnknownNameError, ValueRangeError
from scaletui_engine.sharding.brief import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_WORLD: Final = 1 << 20
"""Ranks of the largest mesh that is taken."""
_WHOLE: Final = re.compile(r"\s*-?\d+\s*", re.ASCII)
_DIGITS: Final = 9
"""A longer number is not worth computing with."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis and its degree."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Mesh:
    """Axes from the slowest to the fastest: rank = row-major index into the sizes, as in init_device_mesh."""

    axes: tuple[Axis, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Axis names, slowest first."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Axis sizes, slowest first."""
        return tuple(axis.size for axis in self.axes)

    @property
    def world(self) -> int:
        """Ranks in all."""
        return prod(self.shape)

    def place(self, name: str) -> int:
        """Index of an axis. Raises UnknownNameError."""
        for index, axis in enumerate(self.axes):
            if axis.name == name:
                return index
        raise UnknownNameError("axis", name, self.names)

    def size(self, name: str) -> int:
        """Degree of an axis. Raises UnknownNameError."""
        return self.axes[self.place(name)].size

    def stride(self, name: str) -> int:
        """Ranks between neighbours along an axis."""
        return strides(self.shape)[self.place(name)]

    def coordinate(self, rank: int) -> tuple[int, ...]:
        """Place of a rank on every axis. Raises ValueRangeError."""
        rest, found = rank, list[int]()
        for axis in reversed(self.axes):
            rest, place = divmod(rest, axis.size)
            found.append(place)
        if rest or rank < 0:
            raise ValueRangeError(f"rank {brief(rank)} is not in 0 <= rank < world = {self.world}")
        return tuple(reversed(found))

    def rank(self, coordinate: tuple[int, ...]) -> int:
        """The rank at a coordinate. Raises ValueRangeError."""
        for axis, place in zip(self.axes, coordinate, strict=True):
            if not 0 <= place < axis.size:
                raise ValueRangeError(f"{axis.name} {place} is not in 0 <= {axis.name} < {axis.size}")
        return sum(place * stride for place, stride in zip(coordinate, strides(self.shape), strict=True))

    def groups(self, *names: str) -> Groups:
        """The groups of one axis, or of several taken together. Raises UnknownNameError."""
        return Groups(self, tuple(self.place(name) for name in names))


@lru_cache(maxsize=256)
def strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides of a shape."""
    found: list[int] = []
    step = 1
    for size in reversed(shape):
        found.append(step)
        step *= size
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Groups:
    """Ranks that differ along some axes only: every rank is in exactly one of these groups."""

    mesh: Mesh
    places: tuple[int, ...]

    @property
    def size(self) -> int:
        """Ranks of a group."""
        return prod(self.mesh.shape[place] for place in self.places)

    @property
    def count(self) -> int:
        """Groups in all."""
        return self.mesh.world // self.size

    @property
    def reach(self) -> int:
        """Last rank of a group less its first."""
        steps = strides(self.mesh.shape)
        return sum((self.mesh.shape[place] - 1) * steps[place] for place in self.places)

    def of(self, rank: int) -> tuple[int, ...]:
        """The members of a rank's group, ascending."""
        coordinate, steps = self.mesh.coordinate(rank), strides(self.mesh.shape)
        first = rank - sum(coordinate[place] * steps[place] for place in self.places)
        return self._from(first)

    def position(self, rank: int) -> int:
        """Place of a rank among the ascending members of its group."""
        coordinate, found = self.mesh.coordinate(rank), 0
        for place in sorted(self.places):
            found = found * self.mesh.shape[place] + coordinate[place]
        return found

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Every group, by ascending first rank."""
        for first in self._firsts():
            yield self._from(first)

    def crossing(self, block: int) -> int:
        """How many groups leave a block of `block` consecutive ranks (a node, an NVLink domain).

        Counted over the residues of the first ranks modulo the block: no group is listed.
        """
        residues: Counter[int] = Counter({0: 1})
        steps = strides(self.mesh.shape)
        for place, size in enumerate(self.mesh.shape):
            if place not in self.places:
                residues = _advance(residues, steps[place], size, block)
        return sum(count for residue, count in residues.items() if residue + self.reach >= block)

    def crosses(self, rank: int, block: int) -> bool:
        """Whether a rank's group leaves its block."""
        first = self.of(rank)[0]
        return first // block != (first + self.reach) // block

    def _from(self, first: int) -> tuple[int, ...]:
        steps, sizes = strides(self.mesh.shape), self.mesh.shape
        moves = [range(0, sizes[place] * steps[place], steps[place]) for place in sorted(self.places)]
        return tuple(first + sum(move) for move in product(*moves))

    def _firsts(self) -> Iterator[int]:
        steps, sizes = strides(self.mesh.shape), self.mesh.shape
        others = [place for place in range(len(sizes)) if place not in self.places]
        moves = [range(0, sizes[place] * steps[place], steps[place]) for place in others]
        return (sum(move) for move in product(*moves))


def _advance(residues: Counter[int], step: int, size: int, block: int) -> Counter[int]:
    """Residues after adding 0, step, ... (size - 1) step; the steps repeat with period block / gcd."""
    period = block // gcd(step, block)
    whole, rest = divmod(size, period)
    found: Counter[int] = Counter()
    for residue, count in residues.items():
        for turn in range(min(period, size)):
            found[(residue + turn * step) % block] += count * (whole + (turn < rest))
    return found


def parse_mesh(text: str) -> Mesh:
    """'dp=4,tp=2' or '4,2', slowest first. Raises ParseError and ValueRangeError."""
    axes: list[Axis] = []
    for index, word in enumerate(text.split(",")):
        name, equals, number = word.strip().rpartition("=")
        name = name.strip() if equals else f"axis{index}"
        if not _WHOLE.fullmatch(number) or not name:
            raise ParseError(f"mesh axis {brief(word.strip())!r} is not NAME=SIZE", "dp=4,tp=2")
        if len(number.strip()) > _DIGITS:
            raise ValueRangeError(
                f"mesh axis {brief(name)} = {brief(number.strip())} ranks, more than {MAX_WORLD}"
            )
        axes.append(Axis(name, int(number)))
    return checked_mesh(Mesh(tuple(axes)))


def checked_mesh(mesh: Mesh) -> Mesh:
    """The mesh itself. Raises ValueRangeError: an axis of no ranks, a name used twice, too many ranks."""
    for axis in mesh.axes:
        if axis.size < 1:
            raise ValueRangeError(
                f"mesh axis {brief(axis.name)}={axis.size}, but an axis has at least 1 rank"
            )
    if len(set(mesh.names)) < len(mesh.names):
        twice = next(name for name in mesh.names if mesh.names.count(name) > 1)
        raise ValueRangeError(f"mesh axis {brief(twice)!r} is named {mesh.names.count(twice)} times")
    if mesh.world > MAX_WORLD:
        sizes = " x ".join(f"{axis.name} {axis.size}" for axis in mesh.axes)
        raise ValueRangeError(f"{sizes} = {brief(mesh.world)} ranks, more than {MAX_WORLD}")
    return mesh
