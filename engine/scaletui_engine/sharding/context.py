"""Context parallelism's head-tail split: rank r holds chunks r and 2 cp - 1 - r of the sequence.

Sources: Megatron-LM core/utils.py, `get_batch_on_this_cp_rank`; torch 2.13,
torch/distributed/tensor/experimental/_context_parallel/_load_balancer.py, `_HeadTailLoadBalancer`.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.sharding.intervals import Intervals, merge
from scaletui_engine.validate.nearest import nearest_multiple


@dataclass(frozen=True, slots=True)
class HeadTail:
    """A sequence on cp ranks. Weights are not cut by cp; dense gradients are reduced over dp x cp."""

    seq: int
    cp: int

    @property
    def chunk(self) -> int:
        """Tokens of one of the 2 cp chunks."""
        return self.seq // (2 * self.cp)

    def tokens(self, rank: int) -> Intervals:
        """A rank's two chunks, which touch on the last rank."""
        return merge(self.chunks(rank))

    def chunks(self, rank: int) -> tuple[tuple[int, int], ...]:
        """The same, kept apart."""
        if self.cp == 1:
            return ((0, self.seq),)
        size, last = self.chunk, 2 * self.cp - 1 - rank
        return (rank * size, (rank + 1) * size), (last * size, (last + 1) * size)

    def order(self) -> tuple[int, ...]:
        """The tokens in the order of the ranks."""
        return tuple(
            token
            for rank in range(self.cp)
            for start, stop in self.chunks(rank)
            for token in range(start, stop)
        )

    def causal_work(self, rank: int) -> int:
        """Query-key pairs of a rank under a causal mask: the same for every rank."""
        return sum((start + stop + 1) * (stop - start) // 2 for start, stop in self.tokens(rank))

    def contiguous_work(self, rank: int) -> int:
        """The same if the sequence were cut into cp runs: what the head-tail split avoids."""
        start, stop = rank * self.seq // self.cp, (rank + 1) * self.seq // self.cp
        return (start + stop + 1) * (stop - start) // 2


def head_tail(seq: int, cp: int, tp: int = 1) -> HeadTail:
    """The split; with `tp`, torchtitan's stricter rule. Raises DivisibilityError."""
    step = (2 * cp if cp > 1 else 1) * tp
    if cp < 1 or tp < 1 or seq < 1 or seq % step:
        written = f"(2 x cp {cp}{f' x tp {tp}' if tp > 1 else ''})"
        raise DivisibilityError(
            f"sequence {seq} / {written} = {seq / max(step, 1):.4g}, not a whole number",
            f"sequence {nearest_multiple(max(step, 1), seq)}",
        )
    return HeadTail(seq, cp)
