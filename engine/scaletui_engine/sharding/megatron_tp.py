"""Megatron's tensor parallelism: padded vocabularies, and fused QKV rows whose owner may not compute them.

Sources: Megatron-LM training/vocab_utils.py, core/tensor_parallel/utils.py (`VocabUtility`),
core/transformer/attention.py (`num_query_groups < tensor_model_parallel_size`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.units import round_up
from scaletui_engine.validate.nearest import divisors

if TYPE_CHECKING:
    from scaletui_engine.sharding.intervals import Interval


@dataclass(frozen=True, slots=True)
class VocabSplit:
    """A vocabulary padded until every rank has the same number of rows."""

    vocab: int
    padded: int
    tp: int

    @property
    def per_rank(self) -> int:
        """Rows of every rank."""
        return self.padded // self.tp

    @property
    def dummy(self) -> int:
        """Rows that stand for no token."""
        return self.padded - self.vocab

    def rows(self, rank: int) -> Interval:
        """A rank's rows of the padded table."""
        return rank * self.per_rank, (rank + 1) * self.per_rank


def vocab_split(vocab: int, tp: int, divisible_by: int = 128) -> VocabSplit:
    """Padded to a multiple of divisible_by x tp."""
    return VocabSplit(vocab, round_up(vocab, divisible_by * tp), tp)


def linear_rows(features: int, tp: int, what: str = "features") -> int:
    """Features of a rank of a column- or row-parallel layer. Raises DivisibilityError."""
    if tp < 1 or features % tp:
        raise DivisibilityError(
            f"{what} {features} / tp {tp} = {features / max(tp, 1):.4g}, not a whole number"
        )
    return features // tp


@dataclass(frozen=True, slots=True)
class HeadRows:
    """Rows of the fused matrix that belong to one head: "q3", "k0" or "v1"."""

    head: str
    rows: Interval
    """[start, stop) within the head's rows."""
    whole: bool = True
    """Whether these are all rows of the head."""


@dataclass(frozen=True, slots=True)
class HeadWork:
    """What one rank computes."""

    queries: tuple[int, ...]
    groups: tuple[int, ...]
    """Key/value heads."""


@dataclass(frozen=True, slots=True)
class FusedQkv:
    """Query, key and value projections in one matrix, laid out group by group: the group's q heads, k, v."""

    heads: int
    kv: int
    head_dim: int
    tp: int

    @property
    def rows(self) -> int:
        """Rows of the whole matrix."""
        return (self.heads + 2 * self.kv) * self.head_dim

    @property
    def rows_per_rank(self) -> int:
        """Rows that every rank stores."""
        return self.rows // self.tp

    @property
    def gathers(self) -> bool:
        """Fewer key/value heads than ranks: the forward pass all-gathers the fused activations over tp."""
        return self.kv < self.tp

    def layout(self) -> tuple[str, ...]:
        """The heads in the order of their rows."""
        group = self.heads // self.kv
        return tuple(
            name
            for g in range(self.kv)
            for name in (*(f"q{g * group + head}" for head in range(group)), f"k{g}", f"v{g}")
        )

    def stored(self, rank: int) -> tuple[HeadRows, ...]:
        """The rows that a rank stores; a rank may own no key or value row at all."""
        return self.between(rank * self.rows_per_rank, (rank + 1) * self.rows_per_rank)

    def between(self, start: int, stop: int) -> tuple[HeadRows, ...]:
        """The heads whose rows lie in [start, stop) of the whole matrix."""
        names, d = self.layout(), self.head_dim
        found: list[HeadRows] = []
        for index in range(start // d, -(-stop // d)):
            low, high = max(start - index * d, 0), min(stop - index * d, d)
            found.append(HeadRows(names[index], (low, high), whole=high - low == d))
        return tuple(found)

    def computes(self, rank: int) -> HeadWork:
        """The heads whose attention a rank computes."""
        per_rank = self.heads // self.tp
        queries = tuple(range(rank * per_rank, (rank + 1) * per_rank))
        if self.gathers:
            return HeadWork(queries, (rank // (self.tp // self.kv),))
        groups = self.kv // self.tp
        return HeadWork(queries, tuple(range(rank * groups, (rank + 1) * groups)))


def fused_qkv(heads: int, kv: int, head_dim: int, tp: int) -> FusedQkv:
    """The fused matrix on tp ranks. Raises DivisibilityError as `check_kv` does, and for uneven heads."""
    check_kv(kv, tp)
    if heads % kv:
        raise DivisibilityError(f"heads {heads} / kv heads {kv} = {heads / kv:.4g}, not a whole number")
    linear_rows(heads, tp, "heads")
    found = FusedQkv(heads, kv, head_dim, tp)
    linear_rows(found.rows, tp, "fused rows")
    return found


def check_kv(kv: int, tp: int) -> None:
    """Megatron: kv must be a multiple or a divisor of tp. Raises DivisibilityError."""
    if kv < 1 or tp < 1 or (kv % tp and tp % kv):
        equation = f"{kv} % {tp} = {kv % max(tp, 1)} and {tp} % {kv} = {tp % max(kv, 1)}"
        good = [degree for degree in (*divisors(max(kv, 1)), 2 * kv) if degree >= 1]
        nearest = min(good, key=lambda degree: (abs(degree - tp), degree))
        raise DivisibilityError(
            f"kv heads {kv}, tp {tp}: {equation}; the groups must be a multiple or a divisor of tp",
            f"tp {nearest}",
        )


def check_kv_whole(kv: int, tp: int) -> None:
    """torchtitan and Hugging Face copy no key/value heads: tp must divide them. Raises DivisibilityError."""
    if kv < 1 or tp < 1 or kv % tp:
        raise DivisibilityError(
            f"n_kv_heads {kv} / tp {tp} = {kv / max(tp, 1):.4g}, not whole, and heads are not copied",
            f"tp {max(degree for degree in divisors(max(kv, 1)) if degree <= max(tp, 1))}",
        )
