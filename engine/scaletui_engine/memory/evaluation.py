"""The memory engine's entry: a scenario in, the budget of every pipeline rank out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import MemoryBudget, StageBudget
from scaletui_engine.memory.contents import flights_of, holds_all, pieces_of, representative
from scaletui_engine.memory.cut import keys_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.outside import outside_range
from scaletui_engine.memory.phases import peak_parts, peaks_of
from scaletui_engine.memory.phases.pipeline import neighbours_of
from scaletui_engine.memory.reserve import reserved_range, streams_of
from scaletui_engine.schedule_rules import Placement, schedule_rule
from scaletui_engine.sharding.notes import mesh_notes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from scaletui_engine.memory.budget import ByteRange
    from scaletui_engine.memory.contents import Pieces
    from scaletui_engine.memory.cut import Key
    from scaletui_engine.memory.load import Load
    from scaletui_engine.memory.phases import Peaks
    from scaletui_engine.memory.phases.pipeline import Neighbours
    from scaletui_engine.memory.reserve import Streams
    from scaletui_engine.scenario import Scenario


def evaluate(scenario: Scenario) -> MemoryBudget:
    """The peak of every pipeline rank against one GPU. The scenario must be valid (`validate`)."""
    gpu = scenario.cluster.gpu
    load = load_of(scenario.model.arch, scenario.plan)
    return MemoryBudget(
        stages=stages_of(load),
        capacity_bytes=gpu.capacity_bytes,
        capacity_is_nominal=gpu.usable_bytes is None,
        assumptions=tuple(_assumptions(load)),
    )


def _assumptions(load: Load) -> Iterator[str]:
    """Message ids of what no field of the plan says."""
    yield f"framework.{load.framework}"
    plan, runtime = load.plan, load.plan.runtime
    if plan.axes.pp > 1 and schedule_rule(plan.schedule).placement is Placement.BIDIRECTIONAL:
        yield "copies.own_states"
    yield from mesh_notes(load.arch, plan)
    if load.arch.moe is not None and runtime.imbalance == 1.0:
        yield "routing.even"


def stages_of(load: Load) -> tuple[StageBudget, ...]:
    """Every pipeline rank at its peak."""
    pieces, plan = pieces_of(load), load.plan
    places = zip(keys_of(load.arch, plan), flights_of(plan), strict=True)
    return tuple(
        [
            _shared(pieces, key, holds_all(plan, flight)).stage(rank, flight)
            for rank, (key, flight) in enumerate(places)
        ]
    )


@dataclass(frozen=True, slots=True)
class _Share:
    """What ranks that hold the same share: the candidates for their peaks."""

    neighbours: Neighbours
    peaks: Peaks
    streams: Streams
    outside: ByteRange

    def stage(self, rank: int, flight: Fraction) -> StageBudget:
        """The budget of one of them, which holds so many microbatches."""
        activations, buffers = self.neighbours.added(flight)
        added = activations + buffers
        phase, parts = peak_parts(self.peaks, activations, buffers)
        allocated = max(self.peaks.passes_total + added, self.peaks.step_total)
        reserved = reserved_range(self.streams, self.peaks, added, allocated)
        return StageBudget(rank, phase, parts, reserved, self.outside, self.streams.workspaces)


@lru_cache(maxsize=64)
def _shared(pieces: Pieces, shape: Key, all_in_flight: bool) -> _Share:
    contents = representative(pieces, shape, all_in_flight=all_in_flight)
    return _Share(neighbours_of(contents), peaks_of(contents), streams_of(contents), outside_range(contents))
