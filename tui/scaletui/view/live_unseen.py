"""Why a rank has told of no step and of no plan: it has made none yet, or nobody can see that it made one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import RankView


def hides_steps(rank: RankView) -> bool:
    """Whether it may make steps that the probe is not told of."""
    return rank.step is None and rank.states_reason in (Reason.COMPILED, Reason.CAPTURED)


def no_step_text(rank: RankView) -> str:
    """In a few words, why there is no step."""
    if not hides_steps(rank):
        return tr("no step yet")
    if rank.states_reason is Reason.CAPTURED:
        return tr("steps out of sight: CUDA graph")
    return tr("steps out of sight: torch.compile")


def no_plan_text(rank: RankView) -> str:
    """Why there is no plan."""
    if not hides_steps(rank):
        return tr("no plan yet: the job has not made its first step")
    if rank.states_reason is Reason.CAPTURED:
        return tr("no plan: it is told by the optimizer step, whose hooks a CUDA graph leaves out")
    return tr("no plan: it is told by the optimizer step, whose hooks torch.compile leaves out")
