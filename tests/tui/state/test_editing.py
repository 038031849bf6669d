"""Editing a scenario: what each key leaves behind, as tables."""

from __future__ import annotations

import pytest

from scaletui.state import editing as edit
from scaletui.state.editing import Editing, value_text
from scaletui_engine.edit import FIELDS
from scaletui_engine.scenarios import load_scenario


@pytest.fixture
def start() -> Editing:
    return Editing(load_scenario("llama3-8b-8"))


@pytest.mark.parametrize(
    ("field", "direction", "value"),
    [
        ("gpus", 1, "12"),
        ("gpus", -1, "6"),
        ("tp", 1, "2"),
        ("micro_batch", 1, "2"),
        ("recompute", 1, "selective"),
        ("strategy", -1, "fsdp1"),
    ],
)
def test_a_step_goes_to_the_next_valid_value(start: Editing, field: str, direction: int, value: str) -> None:
    stepped = edit.stepped(edit.chosen(start, field), direction)
    assert value_text(stepped.scenario, field) == value
    assert stepped.past == (start.scenario,)


def test_a_step_past_the_last_value_changes_nothing(start: Editing) -> None:
    chosen = edit.chosen(start, "tp")
    assert edit.stepped(chosen, -1) == chosen


def test_a_step_carries_along_what_depends_on_it(start: Editing) -> None:
    axes = edit.stepped(edit.chosen(start, "tp"), 1).scenario.plan.axes
    assert (axes.tp, axes.dp_shard, axes.world) == (2, 4, 8)


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("seq", "8k", "8192"),
        ("gpus", "16", "16"),
        ("model", "llama-3-70b", "llama3-70b"),
        ("strategy", "ZERO3", "zero3"),
        ("sequence_parallel", "off", "off"),
    ],
)
def test_typing_sets_the_value(start: Editing, field: str, text: str, value: str) -> None:
    opened = edit.opened(edit.chosen(start, field))
    done = edit.committed(edit.typed(opened, text))
    assert (value_text(done.scenario, field), done.pending, done.refusal) == (value, None, "")


@pytest.mark.parametrize(
    ("field", "text", "equation"),
    [
        ("tp", "3", "tp 3"),
        ("gpus", "0", "gpus"),
        ("seq", "many", "'many'"),
        ("model", "llama9", "llama9"),
        ("micro_batch", "-1", "'-1'"),
    ],
)
def test_a_refused_value_leaves_scenario_and_text(
    start: Editing, field: str, text: str, equation: str
) -> None:
    typed = edit.typed(edit.opened(edit.chosen(start, field)), text)
    refused = edit.committed(typed)
    assert equation in refused.refusal
    assert "\n" not in refused.refusal
    assert (refused.scenario, refused.pending, refused.past) == (start.scenario, text, ())


@pytest.mark.parametrize("typed", ["", "  ", "8"])
def test_nothing_new_is_no_edit(start: Editing, typed: str) -> None:
    done = edit.committed(edit.typed(edit.opened(start), typed))
    assert (done.scenario, done.past, done.pending) == (start.scenario, (), None)


def test_erasing_and_cancelling(start: Editing) -> None:
    typed = edit.typed(edit.opened(start), "16")
    assert edit.erased(typed).pending == "1"
    assert edit.cancelled(typed) == start
    assert edit.erased(start) == start


def test_control_characters_and_endless_pastes_are_not_text(start: Editing) -> None:
    typed = edit.typed(edit.opened(start), "1\n6\x1b" + "0" * 500)
    assert typed.pending is not None
    assert typed.pending.startswith("16000")
    assert len(typed.pending) == edit.LONGEST


def test_undo_and_redo_walk_the_history(start: Editing) -> None:
    once = edit.stepped(start, 1)
    twice = edit.stepped(once, 1)
    assert edit.undone(twice).scenario == once.scenario
    assert edit.undone(edit.undone(twice)).scenario == start.scenario
    assert edit.redone(edit.undone(twice)).scenario == twice.scenario
    assert edit.undone(start) == start
    assert edit.redone(twice) == twice


def test_an_edited_scenario_loses_the_name_it_had(start: Editing) -> None:
    stepped = edit.stepped(start, 1)
    assert (start.scenario.name, stepped.scenario.name) == ("Llama 3 8B on 8 H100", "")
    assert edit.undone(stepped).scenario.name == start.scenario.name
    other = load_scenario("llama3-70b-8")
    assert edit.replaced(start, other).scenario == other


def test_an_edit_after_undo_forgets_what_was_undone(start: Editing) -> None:
    other = edit.stepped(edit.undone(edit.stepped(start, 1)), -1)
    assert other.future == ()
    assert edit.redone(other) == other


def test_the_history_is_bounded(start: Editing) -> None:
    state = start
    for index in range(edit.KEPT + 20):
        state = edit.set_field(state, "micro_batch", str(2 + index % 2))
    assert len(state.past) == edit.KEPT


def test_walking_the_fields_stops_at_both_ends(start: Editing) -> None:
    assert edit.moved(edit.chosen(start, FIELDS[0]), -1).field == FIELDS[0]
    assert edit.moved(edit.chosen(start, FIELDS[-1]), 1).field == FIELDS[-1]
    assert edit.moved(edit.chosen(start, FIELDS[0]), 1).field == FIELDS[1]
