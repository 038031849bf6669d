"""DTensor placements: what one mesh axis does to a tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ParseError
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.chunk import Cut, HeadTailSplit, ListedSplit, Split
from scaletui_engine.sharding.intervals import size, span

if TYPE_CHECKING:
    from scaletui_engine.sharding.intervals import Intervals


class Kind(StrEnum):
    """What an axis does."""

    SHARD = "shard"
    """Cuts a dim with torch.chunk."""
    STRIDED = "strided"
    """Cuts a dim that an axis further right has cut before (_StridedShard)."""
    HEAD_TAIL = "head_tail"
    """Cuts a sequence so that causal attention is even: a chunk from its head and one from its tail."""
    LISTED = "listed"
    """Cuts a dim at given places: rows of Megatron's fused queries, keys and values."""
    REPLICATE = "replicate"
    """Every rank holds the same."""
    PARTIAL = "partial"
    """Every rank holds a term of a sum that is not reduced yet: never the same as a replica."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One axis' placement; `str()` is what torch's messages and this project's options write."""

    kind: Kind
    dim: int = 0
    factor: int = 1
    """Pieces of a strided shard: the ranks that cut the dim before."""
    reduction: str = "sum"
    """How a partial is reduced."""
    held: tuple[Intervals, ...] = ()
    """Of a listed cut: the positions of every rank of the axis."""

    @property
    def cuts(self) -> bool:
        """Whether ranks of the axis hold different elements."""
        return self.kind not in (Kind.REPLICATE, Kind.PARTIAL)

    def cut(self, parts: int) -> Cut:
        """What the placement does to its dim on an axis of `parts` ranks."""
        if self.kind is Kind.HEAD_TAIL:
            return HeadTailSplit(parts)
        return ListedSplit(self.held) if self.kind is Kind.LISTED else Split(parts, self.factor)

    def __str__(self) -> str:
        if self.kind is Kind.SHARD:
            return f"S({self.dim})"
        if self.kind is Kind.STRIDED:
            return f"_S({self.dim},sf={self.factor})"
        if self.kind is Kind.HEAD_TAIL:
            return f"HT({self.dim})"
        if self.kind is Kind.LISTED:
            sizes = ",".join(str(size(part)) for part in self.held)
            return f"S({self.dim};{sizes})" if len(sizes) < _READABLE else f"S({self.dim};...)"
        if self.kind is Kind.REPLICATE:
            return "R"
        return "P" if self.reduction == "sum" else f"P({self.reduction})"


_READABLE: Final = 24
"""Characters of lengths that are still written out."""
REPLICATE: Final = Placement(Kind.REPLICATE)
PARTIAL: Final = Placement(Kind.PARTIAL)

_SHARD: Final = re.compile(r"(?:S|Shard)\((?:dim=)?(-?\d{1,9})\)")
_STRIDED: Final = re.compile(
    r"(?:_S|_StridedShard)\((?:dim=)?(-?\d{1,9}),\s*(?:sf=|split_factor=)?(\d{1,6})\)"
)
_LENGTHS: Final = re.compile(r"S\((-?\d{1,9});\s*(\d{1,15}(?:,\s*\d{1,15})*)\)")
_HEAD_TAIL: Final = re.compile(r"HT\((-?\d{1,9})\)")
_PARTIAL: Final = re.compile(r"(?:P|Partial)(?:\((sum|avg|product|max|min)?\))?")
_REPLICATE: Final = re.compile(r"(?:R|Replicate)(?:\(\))?")
_BETWEEN: Final = re.compile(r",(?![^()]*\))")


def shard(dim: int, factor: int = 1) -> Placement:
    """S(dim), or a strided shard where `factor` is above 1."""
    return Placement(Kind.SHARD, dim) if factor == 1 else Placement(Kind.STRIDED, dim, factor)


def head_tail(dim: int) -> Placement:
    """Context parallelism's cut of a sequence dim."""
    return Placement(Kind.HEAD_TAIL, dim)


def lengths(dim: int, sizes: tuple[int, ...]) -> Placement:
    """Pieces of given lengths, as DTensor.from_local takes them from a user."""
    ends = list(accumulate(sizes, initial=0))
    return Placement(Kind.LISTED, dim, held=tuple(span(*pair) for pair in pairwise(ends)))


def parse_placement(text: str, dims: int) -> Placement:
    """'S(0)', 'R', 'P', 'P(max)', '_S(0,sf=2)', 'HT(1)', 'S(1;2,3,4)' or torch's long names.

    Raises ParseError.
    """
    word = text.strip()
    if match := _SHARD.fullmatch(word):
        return Placement(Kind.SHARD, _dim(match[1], dims, word))
    if (match := _STRIDED.fullmatch(word)) and int(match[2]) > 0:
        return Placement(Kind.STRIDED, _dim(match[1], dims, word), int(match[2]))
    if match := _LENGTHS.fullmatch(word):
        return lengths(_dim(match[1], dims, word), tuple(map(int, match[2].split(","))))
    if match := _HEAD_TAIL.fullmatch(word):
        return Placement(Kind.HEAD_TAIL, _dim(match[1], dims, word))
    if match := _PARTIAL.fullmatch(word):
        return Placement(Kind.PARTIAL, reduction=match[1] or "sum")
    if _REPLICATE.fullmatch(word):
        return REPLICATE
    raise ParseError(
        f"unknown placement {brief(word)!r}", "S(dim), R, P, HT(dim), S(dim;N,N) or _S(dim,sf=N)"
    )


def parse_placements(text: str, dims: int) -> tuple[Placement, ...]:
    """'S(0),R': one placement for each mesh axis, in the mesh's order. Raises ParseError."""
    return tuple(parse_placement(word, dims) for word in _BETWEEN.split(text))


def _dim(text: str, dims: int, word: str) -> int:
    dim = int(text)
    if not -dims <= dim < dims:
        raise ParseError(
            f"{word}: dim {dim} is not in {-dims} <= dim < {dims}, the dims of the shape",
            f"S({dims - 1})" if dims else "R",
        )
    return dim % dims
