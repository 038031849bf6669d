"""What the budget screen looks at: the answer, the one before it, and where the reader is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.budget import PARTS, ByteRange

if TYPE_CHECKING:
    from scaletui.state.answer import Answer
    from scaletui.state.origin import Origin
    from scaletui.state.study import Study
    from scaletui_engine.memory.budget import MemoryBudget, StageBudget

LISTS: Final = ("plan", "parts", "stages")
"""What the arrow keys walk through; tab goes from one to the next."""


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One picture of the budget screen."""

    answer: Answer | None = None
    """None until the engine has answered for the first time."""
    before: MemoryBudget | None = None
    """The budget before the last edit; None where nothing has changed since."""
    pinned: Answer | None = None
    """What everything is compared with until it is let go; None compares with the last edit for a moment."""
    stage: int | None = None
    """The stage that is looked at; None follows the one that needs most."""
    study: Study | None = None
    """A closer look, which comes later than the answer; it may still be at the scenario before."""
    part: str = PARTS[0]
    shows_lesson: bool = False
    """Whether the lesson's accounting stands where the explanations are."""
    focus: str = LISTS[0]
    """Which list has the arrow keys."""

    @property
    def budget(self) -> MemoryBudget | None:
        """The engine's answer, once there is one."""
        return None if self.answer is None else self.answer.budget


@dataclass(frozen=True, slots=True)
class PartLine:
    """One line of the legend."""

    part: str
    amount: int
    """Bytes on the stage that is looked at, at its peak."""
    share: float
    """Of the allocated bytes."""
    change: int | None
    """Bytes since the last edit; None where there was none."""


@dataclass(frozen=True, slots=True)
class RoomLine:
    """One of the larger numbers that measure the same rank: what is reserved, what the driver reports."""

    role: str
    span: ByteRange
    change: int | None
    """Of the high end."""


def chosen_stage(state: BudgetState) -> int:
    """The index of the stage that is looked at."""
    if state.answer is None:
        return 0
    return (
        state.answer.worst if state.stage is None else min(state.stage, len(state.answer.budget.stages) - 1)
    )


def looked_at(state: BudgetState) -> StageBudget | None:
    """The stage that is looked at."""
    return None if state.budget is None else state.budget.stages[chosen_stage(state)]


def reference(state: BudgetState) -> MemoryBudget | None:
    """The budget that changes are counted from."""
    return state.before if state.pinned is None else state.pinned.budget


def looked_at_before(state: BudgetState) -> StageBudget | None:
    """The same stage in the reference: the one that needed most where that is followed."""
    budget = reference(state)
    if budget is None:
        return None
    if state.stage is None:
        return budget.peak
    return budget.stages[state.stage] if state.stage < len(budget.stages) else None


def origin(state: BudgetState) -> Origin | None:
    """The numbers behind the stage that is looked at."""
    return None if state.answer is None else state.answer.origins[chosen_stage(state)]


def closer_look(state: BudgetState) -> Study | None:
    """The study of exactly what is looked at; None until there is one."""
    study = state.study
    if study is None or state.answer is None or study.scenario is not state.answer.scenario:
        return None
    return study if study.stage == chosen_stage(state) else None


def part_lines(state: BudgetState) -> tuple[PartLine, ...]:
    """Every part of the stage that is looked at, those of 0 bytes too: lines keep their places."""
    stage, before = looked_at(state), looked_at_before(state)
    if stage is None:
        return ()
    total = max(stage.peak_bytes, 1)
    old = dict(before.parts.items()) if before else {}
    return tuple(
        PartLine(part, amount, amount / total, amount - old[part] if old else None)
        for part, amount in stage.parts.items()
    )


def room_lines(state: BudgetState) -> tuple[RoomLine, ...]:
    """What the allocator has reserved, and with the memory outside of it what the driver reports."""
    stage, before = looked_at(state), looked_at_before(state)
    if stage is None:
        return ()
    held, outside = stage.reserved, stage.outside
    driver = ByteRange(held.low + outside.low, held.high + outside.high, outside.why)
    return (
        RoomLine("reserved", held, held.high - before.reserved.high if before else None),
        RoomLine("overhead", driver, needed_change(state)),
    )


def reserve(stage: StageBudget) -> ByteRange:
    """What the caching allocator keeps beyond the allocated bytes."""
    allocated, reserved = stage.peak_bytes, stage.reserved
    return ByteRange(max(reserved.low - allocated, 0), max(reserved.high - allocated, 0), reserved.why)


def needed_change(state: BudgetState) -> int | None:
    """Bytes that the stage needs more, or less, than before the last edit."""
    stage, before = looked_at(state), looked_at_before(state)
    return stage.needed_bytes - before.needed_bytes if stage and before else None


def answered(state: BudgetState, answer: Answer) -> BudgetState:
    """The state with a new answer; the one it replaces is what changes are counted from."""
    if state.answer is None or state.answer.scenario == answer.scenario:
        return replace(state, answer=answer)
    return replace(state, answer=answer, before=state.answer.budget)


def settled(state: BudgetState) -> BudgetState:
    """The state without its changes: the reader went on to something else."""
    return state if state.before is None else replace(state, before=None)


def pinned(state: BudgetState) -> BudgetState:
    """Compare with the present answer from now on, or no longer."""
    return replace(state, pinned=state.answer if state.pinned is None else None, before=None)


def next_list(state: BudgetState, direction: int) -> BudgetState:
    """The arrow keys go to the next list."""
    return replace(state, focus=LISTS[(LISTS.index(state.focus) + direction) % len(LISTS)])


def next_part(state: BudgetState, direction: int) -> BudgetState:
    """The part below or above; the list ends at its ends."""
    place = min(max(PARTS.index(state.part) + direction, 0), len(PARTS) - 1)
    return replace(state, part=PARTS[place])


def next_stage(state: BudgetState, direction: int) -> BudgetState:
    """The stage below or above; from the worst one that is followed until a stage is chosen."""
    if state.budget is None:
        return state
    place = min(max(chosen_stage(state) + direction, 0), len(state.budget.stages) - 1)
    return replace(state, stage=place)


def worst_stage(state: BudgetState) -> BudgetState:
    """Follow the stage that needs most again."""
    return replace(state, stage=None)
