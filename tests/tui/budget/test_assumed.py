"""A pipeline with fewer microbatches than ranks: how much of a step it is idle, and where that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.answer import answer
from scaletui.state.budget import BudgetState
from scaletui.view.assumed import idle_warning
from scaletui.view.box import Box
from scaletui.view.budget_answer import answer_rows
from scaletui.view.budget_details import details_rows
from scaletui.view.budget_markdown import budget_markdown
from scaletui.view.facts import scenario_facts
from scaletui.view.pen import Pen
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.schedule.catalogue import Comparison, catalogue

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

PEN = Pen()


def of(batch: int, schedule: str = "1f1b", pp: int = 4) -> Scenario:
    """Two data-parallel ranks of a pipeline."""
    return scenario_from(
        Choices(model="llama3-8b", gpu="h100", gpus=2 * pp, pp=pp, global_batch=2 * batch, schedule=schedule)
    )


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", "GPipe"])
@pytest.mark.parametrize(("count", "pp"), [(1, 4), (3, 4), (1, 2), (5, 8)])
def test_the_share_is_that_of_the_simulated_pipeline(schedule: str, count: int, pp: int) -> None:
    (row,) = catalogue(Comparison(pp, count), (schedule,))
    assert row.bubble is not None, row.refusal
    share = PEN.numbers.percent(row.bubble.over_makespan)
    warned = idle_warning(of(count, schedule, pp), PEN)
    assert f"microbatches {count}, pp {pp}: the pipeline is idle {share} of the step" in warned


def test_other_schedules_say_so_without_a_share() -> None:
    assert idle_warning(of(1, "zb-h1"), PEN).startswith("microbatches 1, fewer than pp 4: ranks")


@pytest.mark.parametrize("scenario", [of(4), of(8), of(1, pp=1)])
def test_enough_microbatches_are_no_news(scenario: Scenario) -> None:
    assert idle_warning(scenario, PEN) == ""


def test_it_is_said_in_details_and_export() -> None:
    found = answer(of(1))
    warned = idle_warning(found.scenario, PEN)
    lines = ["".join(span.text for span in row) for row in details_rows(BudgetState(found), Box(60, 40), PEN)]
    title = next(place for place, line in enumerate(lines) if "assumed" in line)
    assert warned.startswith(lines[title + 1].strip())
    assert f"- {warned}\n" in budget_markdown(found, PEN)


def test_facts_count_microbatches_of_a_pipeline() -> None:
    assert "1 microbatch" in scenario_facts(of(1), PEN)
    assert "6 microbatches" in scenario_facts(of(6), PEN)
    none = replace(of(6), plan=replace(of(6).plan, axes=replace(of(6).plan.axes, pp=1)))
    assert not any("microbatch" in fact for fact in scenario_facts(none, PEN))


def test_the_answer_names_the_share_before_the_moment() -> None:
    (row,) = answer_rows(BudgetState(answer(of(1))), 80, PEN)
    assert "   pipeline idle 75 %" in "".join(span.text for span in row)
    (row,) = answer_rows(BudgetState(answer(of(4))), 80, PEN)
    assert "idle" not in "".join(span.text for span in row)
