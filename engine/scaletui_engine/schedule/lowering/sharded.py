"""FSDP inside a pipeline: gather a stage's weights before they are used, free them, reduce gradients once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import NO_MICROBATCH
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.lowering.peers import stage_of

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code

MAX_ACTIVE: Final = 3
"""Stages gathered at a time: one for a forward, one for a backward, one ahead (PyTorch's choice)."""

_W: Final = int(Kind.WEIGHT_GRAD)
_B: Final = int(Kind.BACKWARD)


def add_unshard(row: list[Code]) -> list[Code]:
    """UNSHARD the next `MAX_ACTIVE` stages that will compute, RESHARD those that are not among them."""
    upcoming = _upcoming(row)
    # PyTorch keeps a set of whole numbers and walks through it; the same set walks in the same order.
    active: set[int] = set()
    lowered: list[Code] = []
    for index, code in enumerate(row):
        if index and row[index - 1] & codes.OVERLAP_BIT:
            lowered.append(code)
            continue
        soon = upcoming[index]
        fetch = [stage for stage in soon if stage not in active]
        for stage in [stage for stage in active if stage not in soon]:
            active.remove(stage)
            lowered.append(codes.encode(Kind.RESHARD, stage, NO_MICROBATCH))
        active.update(fetch)
        lowered += [codes.encode(Kind.UNSHARD, stage, NO_MICROBATCH) for stage in fetch]
        lowered.append(code)
    return lowered + [codes.encode(Kind.RESHARD, stage, NO_MICROBATCH) for stage in active]


def _upcoming(row: list[Code]) -> list[tuple[int, ...]]:
    """For every place of a row, the next stages that compute from there on, nearest first.

    Walked from the end: a stage that computes here moves to the front. PyTorch counts the stages of a
    pair after it has added both, so a fourth is due where a pair brings the third and the fourth.
    """
    found: list[tuple[int, ...]] = [()] * len(row)
    order: list[int] = []
    mate: dict[int, int] = {}
    for index in reversed(range(len(row))):
        stage = stage_of(row[index])
        order = [stage, *(other for other in order if other != stage)]
        mate[stage] = stage_of(row[index + 1]) if row[index] & codes.OVERLAP_BIT else -1
        due = order[: MAX_ACTIVE + 1]
        keep = len(due) > MAX_ACTIVE and mate[due[-2]] == due[-1]
        found[index] = tuple(due if keep else due[:MAX_ACTIVE])
    return found


def add_gradient_reduction(row: list[Code]) -> list[Code]:
    """REDUCE_GRAD after a stage's last W or B in the row; after the whole pair where it is part of one."""
    left = Counter(stage_of(code) for code in row if code & codes.KIND_MASK in (_W, _B))
    lowered: list[Code] = []
    due: list[Code] = []
    for code in row:
        lowered.append(code)
        if code & codes.KIND_MASK in (_W, _B):
            stage = stage_of(code)
            left[stage] -= 1
            if not left[stage]:
                due.append(codes.encode(Kind.REDUCE_GRAD, stage, NO_MICROBATCH))
        if not code & codes.OVERLAP_BIT:
            lowered += due
            due = []
    return lowered
