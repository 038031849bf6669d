"""How long a scenario's optimizer step takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of

if TYPE_CHECKING:
    from scaletui_engine.memory.states import States
    from scaletui_engine.scenario import Scenario


def optimizer_seconds(scenario: Scenario) -> float:
    """On the pipeline rank that has most to do, at the rate of its GPU's memory.

    An element-wise update is bound by memory: gradients are read, all other states read and written once.
    """
    ranks = contents_of(load_of(scenario.model.arch, scenario.plan))
    return max(moved_bytes(rank.states) for rank in ranks) / scenario.cluster.gpu.memory_bandwidth


def moved_bytes(states: States) -> int:
    """Bytes that an update reads and writes."""
    return states.gradients + 2 * (states.weights + states.optimizer + states.master_weights)
