"""One training step unit by unit: gather, compute, free, reduce, update; with the bytes that a rank holds.

States, gathered copies and gradients are the memory engine's figures, messages those of the traffic table.
Activations are not counted: they are the memory engine's subject alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.runtime import Framework
from scaletui_engine.sharding.step_frames import PlayedStep
from scaletui_engine.sharding.step_gathered import GatheredWalk
from scaletui_engine.sharding.step_live import LiveWalk
from scaletui_engine.sharding.step_replicated import ReplicatedWalk
from scaletui_engine.sharding.step_units import units_of_step
from scaletui_engine.sharding.traffic.step import heaviest_stage, step_of

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def played_step(scenario: Scenario, stage_rank: int | None = None) -> PlayedStep:
    """The step of a pipeline rank, of the heaviest one where none is named; the scenario must be valid.

    Of many microbatches the first, the second and the last are walked through. Raises ValueRangeError.
    """
    pp = scenario.plan.axes.pp
    if stage_rank is None:
        stage_rank = heaviest_stage(scenario)
    elif not 0 <= stage_rank < pp:
        raise ValueRangeError(f"stage {stage_rank} is not in 0 <= stage < pp = {pp}")
    step = step_of(scenario, stage_rank)
    contents = contents_of(step.load)[stage_rank]
    units = units_of_step(step, contents)
    plan = scenario.plan
    gathers = plan.strategy.shards_weights
    live = gathers and contents.load.framework is Framework.DEEPSPEED
    walk = (LiveWalk if live else GatheredWalk if gathers else ReplicatedWalk)(contents, units)
    walk.walk()
    ranks = contents.load.shard if plan.strategy.shards_optimizer else 1
    return PlayedStep(plan.strategy, units, ranks, stage_rank, walk.microbatches, tuple(walk.frames))
