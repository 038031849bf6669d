"""Which ranks hold which stages: loop, V, and both directions at once."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.errors import ScenarioError


class PlacementError(ScenarioError):
    """A stage on a rank where it does not belong."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Stage -> the ranks that hold it: one, or two where the model is held twice."""

    ranks_of: tuple[tuple[int, ...], ...]

    @property
    def stages(self) -> int:
        """Stages of the model."""
        return len(self.ranks_of)

    @property
    def ranks(self) -> int:
        """Pipeline ranks."""
        return 1 + max(rank for ranks in self.ranks_of for rank in ranks)

    @property
    def replicas(self) -> int:
        """Copies of the model in the pipeline."""
        return max(map(len, self.ranks_of))

    def stages_of(self, rank: int) -> tuple[int, ...]:
        """The stages of a rank, in the order of the model."""
        return tuple(stage for stage, ranks in enumerate(self.ranks_of) if rank in ranks)


def loop(ranks: int, chunks: int = 1) -> Placement:
    """Stage s on rank s % ranks (Narayanan et al., arXiv:2104.04473, section 2.2)."""
    return Placement(tuple((stage % ranks,) for stage in range(ranks * chunks)))


def vee(ranks: int) -> Placement:
    """There and back: rank r holds stages r and 2 ranks - 1 - r (arXiv:2401.10241, section 6)."""
    return Placement(tuple((min(stage, 2 * ranks - 1 - stage),) for stage in range(2 * ranks)))


def bidirectional(ranks: int) -> Placement:
    """Stage s on ranks s and ranks - 1 - s, one copy a direction (deepseek-ai/DualPipe)."""
    return Placement(tuple((stage, ranks - 1 - stage) for stage in range(ranks)))


def require_placement(found: Placement, expected: Placement, name: str) -> None:
    """Raises PlacementError with the map that a schedule wants and the first rank that differs."""
    if found.ranks_of == expected.ranks_of:
        return
    ranks = max(found.ranks, expected.ranks)
    wrong = next((rank for rank in range(ranks) if found.stages_of(rank) != expected.stages_of(rank)), 0)
    wanted = ", ".join(f"{rank}: {list(expected.stages_of(rank))}" for rank in range(expected.ranks))
    held = f"rank {wrong} holds stages {list(found.stages_of(wrong))}"
    raise PlacementError(f"{held}, but {name} places them as {{{wanted}}}")
