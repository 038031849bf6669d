"""The memory engine's entry: a scenario in, the budget of every pipeline rank out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import MemoryBudget, StageBudget
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.outside import outside_range
from scaletui_engine.memory.phases import Peaks, peak_at, peaks_of
from scaletui_engine.memory.phases.pipeline import in_flight_terms
from scaletui_engine.memory.reserve import Peaking, reserved_range

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
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
    """Every pipeline rank at its peak; ranks that hold the same share their moments."""
    ranks, known = contents_of(load), dict[tuple[object, ...], Peaks]()
    outside = outside_range(ranks[0])
    found: list[StageBudget] = []
    for contents in ranks:
        key = (
            contents.kept, contents.stages, contents.layers_numel, contents.root_numel, id(contents.head),
            contents.all_in_flight,
        )  # fmt: skip
        if key not in known:
            known[key] = peaks_of(contents)
        added = in_flight_terms(contents)
        moment = peak_at(known[key], added)
        parts = moment.parts
        peaking = Peaking(known[key], sum([size for _, _, size in added]), parts.total)
        reserved = reserved_range(contents, peaking)
        found.append(StageBudget(contents.rank, moment.phase, parts, reserved, outside))
    return tuple(found)
