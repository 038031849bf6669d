"""The memory engine's entry: a scenario in, the budget of every pipeline rank out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import MemoryBudget, StageBudget
from scaletui_engine.memory.contents import contents_of, representative
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.outside import outside_range
from scaletui_engine.memory.phases import peak_parts, peaks_of
from scaletui_engine.memory.phases.pipeline import added_bytes
from scaletui_engine.memory.reserve import reserved_range, streams_of

if TYPE_CHECKING:
    from scaletui_engine.memory.budget import ByteRange
    from scaletui_engine.memory.contents import Contents, Key, Pieces
    from scaletui_engine.memory.load import Load
    from scaletui_engine.memory.phases import Peaks
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
        assumptions=(f"framework.{load.framework}",),
    )


def stages_of(load: Load) -> tuple[StageBudget, ...]:
    """Every pipeline rank at its peak."""
    ranks = contents_of(load)
    outside = outside_range(ranks[0])
    return tuple(_stage(contents, outside) for contents in ranks)


def _stage(contents: Contents, outside: ByteRange) -> StageBudget:
    peaks, streams = _shared(contents.pieces, contents.shape, contents.all_in_flight)
    activations, buffers = added_bytes(contents)
    phase, parts = peak_parts(peaks, activations, buffers)
    reserved = reserved_range(streams, peaks, activations + buffers, parts.total)
    return StageBudget(contents.rank, phase, parts, reserved, outside)


@lru_cache(maxsize=512)
def _shared(pieces: Pieces, shape: Key, all_in_flight: bool) -> tuple[Peaks, Streams]:
    """What ranks that hold the same share: the candidates for their peaks."""
    contents = representative(pieces, shape, all_in_flight=all_in_flight)
    return peaks_of(contents), streams_of(contents)
