"""The memory engine's entry: a scenario in, the budget of every pipeline rank out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import MemoryBudget, StageBudget
from scaletui_engine.memory.contents import Contents, contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.outside import outside_range
from scaletui_engine.memory.phases import moments, peak
from scaletui_engine.memory.reserve import reserved_range

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def evaluate(scenario: Scenario) -> MemoryBudget:
    """The peak of every pipeline rank against one GPU. The scenario must be valid (`validate`)."""
    gpu = scenario.cluster.gpu
    load = load_of(scenario.model.arch, scenario.plan)
    return MemoryBudget(
        stages=tuple(_stage(contents) for contents in contents_of(load)),
        capacity_bytes=gpu.capacity_bytes,
        capacity_is_nominal=gpu.usable_bytes is None,
        assumptions=(f"framework.{load.framework}",),
    )


def _stage(contents: Contents) -> StageBudget:
    found = moments(contents)
    moment = peak(found)
    return StageBudget(
        stage=contents.rank,
        phase=moment.phase,
        parts=moment.parts,
        reserved=reserved_range(contents, found),
        outside=outside_range(contents),
    )
