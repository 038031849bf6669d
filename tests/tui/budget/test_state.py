"""What the budget screen looks at: stages, parts, changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state import budget as view
from scaletui.state.answer import answer
from scaletui.state.budget import LISTS, BudgetState
from scaletui_engine.edit import edit, step
from scaletui_engine.memory.budget import PARTS

if TYPE_CHECKING:
    from scaletui.state.answer import Answer


def test_parts_are_listed_in_drawing_order_and_add_up(state: BudgetState) -> None:
    lines, stage = view.part_lines(state), view.looked_at(state)
    assert stage is not None
    assert tuple(line.part for line in lines) == PARTS
    assert sum(line.amount for line in lines) == stage.peak_bytes
    assert sum(line.share for line in lines) == pytest.approx(1.0)
    assert {line.change for line in lines} == {None}


def test_three_numbers_measure_a_rank_and_the_largest_is_what_it_needs(state: BudgetState) -> None:
    stage = view.looked_at(state)
    assert stage is not None
    reserved, driver = view.room_lines(state)
    assert stage.peak_bytes < reserved.span.low < driver.span.low
    assert reserved.span.high < driver.span.high == stage.needed_bytes


def test_an_edit_shows_the_signed_change_of_every_part(state: BudgetState) -> None:
    assert state.answer is not None
    after = view.answered(state, answer(step(state.answer.scenario, "gpus", 1)))
    changes = {line.part: line.change for line in view.part_lines(after)}
    assert all(change is not None for change in changes.values())
    assert changes["optimizer"] is not None
    assert changes["optimizer"] < 0
    now, before = after.budget, state.budget
    assert now is not None
    assert before is not None
    assert sum(change or 0 for change in changes.values()) == now.peak.peak_bytes - before.peak.peak_bytes
    assert view.needed_change(after) == now.peak.needed_bytes - before.peak.needed_bytes


def test_changes_go_when_the_reader_goes_on(state: BudgetState) -> None:
    assert state.answer is not None
    after = view.answered(state, answer(edit(state.answer.scenario, "seq", "2048")))
    assert view.needed_change(after) is not None
    assert view.needed_change(view.settled(after)) is None


def test_the_same_answer_again_is_no_change(state: BudgetState) -> None:
    assert state.answer is not None
    assert view.answered(state, state.answer).before is None


def test_the_first_answer_is_no_change(small: Answer) -> None:
    assert view.answered(BudgetState(), small).before is None


def test_the_worst_stage_is_followed_until_one_is_chosen(wide: Answer) -> None:
    state = BudgetState(wide)
    assert view.chosen_stage(state) == wide.worst == wide.budget.peak.stage
    chosen = view.next_stage(state, 1)
    assert chosen.stage == wide.worst + 1


@pytest.mark.parametrize(("start", "direction", "end"), [(0, -1, 0), (15, 1, 15), (3, 1, 4), (99, 0, 15)])
def test_stages_end_at_their_ends(wide: Answer, start: int, direction: int, end: int) -> None:
    state = view.next_stage(BudgetState(wide, stage=start), direction)
    assert view.chosen_stage(state) == end


def test_a_stage_that_is_gone_has_no_change(small: Answer, wide: Answer) -> None:
    state = replace(BudgetState(wide, stage=12), before=small.budget)
    assert view.looked_at_before(state) is None
    assert view.needed_change(state) is None


@pytest.mark.parametrize(
    ("part", "direction", "expected"),
    [("weights", -1, "weights"), ("weights", 1, "gradients"), ("buffers", 1, "buffers")],
)
def test_parts_end_at_their_ends(state: BudgetState, part: str, direction: int, expected: str) -> None:
    assert view.next_part(replace(state, part=part), direction).part == expected


def test_the_lists_come_round(state: BudgetState) -> None:
    walked = [state]
    for _ in LISTS:
        walked.append(view.next_list(walked[-1], 1))
    assert [each.focus for each in walked] == [*LISTS, LISTS[0]]
    assert view.next_list(state, -1).focus == LISTS[-1]


def test_without_an_answer_there_is_nothing_to_see() -> None:
    empty = BudgetState()
    assert view.part_lines(empty) == ()
    assert view.room_lines(empty) == ()
    assert view.origin(empty) is None
    assert view.next_stage(empty, 1) == empty
