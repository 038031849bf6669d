"""What a pipeline schedule asks of ranks, chunks and microbatches, and where it places the stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import UnknownNameError


class Placement(StrEnum):
    """Which stages a pipeline rank holds."""

    LOOP = "loop"
    """Stage s on rank s % pp."""
    V = "v"
    """Rank r holds stages r and 2 pp - 1 - r."""
    BIDIRECTIONAL = "bidirectional"
    """Rank r holds stages r and pp - 1 - r: two copies of the model."""


class Rounds(StrEnum):
    """How an interleaved schedule groups microbatches before it moves to the next chunk."""

    NONE = "none"
    """No groups."""
    OF_RANKS = "of_ranks"
    """Groups of pp (Megatron-LM schedules.py, microbatch group size pp)."""
    EQUAL = "equal"
    """m // pp equal groups (torch's Interleaved1F1B: m % max(1, m // pp) == 0)."""


@dataclass(frozen=True, slots=True)
class ScheduleRule:
    """One schedule's needs."""

    name: str
    placement: Placement = Placement.LOOP
    chunks: tuple[int, int | None] = (1, 1)
    """Fewest and most chunks a rank may hold; None is no limit."""
    even_ranks: bool = False
    microbatches_per_rank: int = 0
    """Fewest microbatches for every pipeline rank."""
    even_microbatches: bool = False
    rounds: Rounds = Rounds.NONE
    source: str = ""

    def refuses(self, microbatches: int, ranks: int) -> str | None:
        """What the schedule needs that so many microbatches over `ranks` do not give; None when they do."""
        if microbatches < self.microbatches_per_rank * ranks:
            times = "" if self.microbatches_per_rank == 1 else f"{self.microbatches_per_rank} x "
            return f"at least {times}pp = {self.microbatches_per_rank * ranks} microbatches"
        if self.even_microbatches and microbatches % 2:
            return "an even number of microbatches"
        if self.rounds is Rounds.OF_RANKS and microbatches % ranks:
            return f"microbatches in groups of pp = {ranks}"
        rounds = max(1, microbatches // ranks)
        if self.rounds is Rounds.EQUAL and microbatches % rounds:
            return f"microbatches in {rounds} equal rounds (microbatches // pp)"
        return None


_MANY: Final = (2, None)
_ANY: Final = (1, None)
_OF_RANKS: Final = Rounds.OF_RANKS
_TORCH: Final = "torch/distributed/pipelining/schedules.py, torch 2.13"
_SAIL: Final = "sail-sg/zero-bubble-pipeline-parallelism"

_RULES: Final = (
    ScheduleRule("naive", source="one microbatch at a time"),
    ScheduleRule("gpipe", source="arXiv:1811.06965"),
    ScheduleRule("1f1b", source="arXiv:2104.04473, section 2.2"),
    ScheduleRule("eager-1f1b", source="arXiv:2201.12023"),
    ScheduleRule("interleaved-1f1b", chunks=_MANY, rounds=_OF_RANKS, source="arXiv:2104.04473, 2.2.2"),
    ScheduleRule("looped-bfs", chunks=_MANY, source="arXiv:2211.05953"),
    ScheduleRule("zb-h1", source="arXiv:2401.10241"),
    ScheduleRule("zb-h2", source="arXiv:2401.10241"),
    ScheduleRule("zb-auto", source="arXiv:2401.10241, section 3"),
    ScheduleRule("zb-v", Placement.V, (2, 2), source="arXiv:2401.10241, section 6"),
    ScheduleRule("v-half", Placement.V, (2, 2), source="arXiv:2405.15362"),
    ScheduleRule("v-min", Placement.V, (2, 2), source="arXiv:2405.15362"),
    ScheduleRule(
        "dualpipe", Placement.BIDIRECTIONAL, even_ranks=True, microbatches_per_rank=2, even_microbatches=True,
        source="deepseek-ai/DualPipe dualpipe/dualpipe.py",
    ),
    ScheduleRule(
        "dualpipev", Placement.V, (2, 2), microbatches_per_rank=2,
        source="deepseek-ai/DualPipe dualpipe/dualpipev.py",
    ),
    ScheduleRule("interleaved-zero-bubble", chunks=_MANY, rounds=Rounds.EQUAL, source="arXiv:2401.10241"),
    ScheduleRule("seq1f1b", source="arXiv:2406.03488"),
    ScheduleRule("combined-1f1b", chunks=_MANY, rounds=_OF_RANKS, source="Megatron-LM combined_1f1b.py"),
    ScheduleRule("pipedream", source="arXiv:1806.03377"),
    ScheduleRule("GPipe", source=_TORCH),
    ScheduleRule("1F1B", microbatches_per_rank=1, source=_TORCH),
    ScheduleRule("Interleaved1F1B", chunks=_ANY, rounds=Rounds.EQUAL, source=_TORCH),
    ScheduleRule("LoopedBFS", chunks=_ANY, source=_TORCH),
    ScheduleRule("InterleavedZeroBubble", chunks=_ANY, rounds=Rounds.EQUAL, source=_TORCH),
    ScheduleRule("ZBVZeroBubble", Placement.V, (2, 2), source=_TORCH),
    ScheduleRule("DualPipeV", Placement.V, (2, 2), microbatches_per_rank=2, source=_TORCH),
)  # fmt: skip
_BY_NAME: Final = {rule.name: rule for rule in _RULES}


def schedule_names() -> tuple[str, ...]:
    """Every schedule: hyphenated names for the papers' orders, class names for PyTorch's."""
    return tuple(_BY_NAME)


def schedule_rule(name: str) -> ScheduleRule:
    """The rule of that exact name. Raises UnknownNameError."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownNameError("schedule", name, _BY_NAME) from None


def nearest_microbatches(rule: ScheduleRule, ranks: int, wanted: int) -> int:
    """The number of microbatches nearest to `wanted` that the schedule takes, the smaller of two as near.

    2 pp microbatches suit every schedule, so the search ends.
    """
    for distance in range(max(wanted, 2 * ranks) + 1):
        for count in (wanted - distance, wanted + distance):
            if count > 0 and rule.refuses(count, ranks) is None:
                return count
    return 2 * ranks
