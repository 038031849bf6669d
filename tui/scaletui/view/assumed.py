"""What a budget takes for granted, and a pipeline that has too few microbatches to be busy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.text.model_notes import model_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.memory.budget import MemoryBudget
    from scaletui_engine.scenario import Scenario

_ONE_AFTER_ANOTHER: Final = frozenset({"1f1b", "gpipe", "GPipe"})
"""Schedules of which (pp - 1) / (m + pp - 1) of a step is idle."""


def assumed(scenario: Scenario, budget: MemoryBudget, pen: Pen) -> Iterator[str]:
    """A sentence each."""
    if warning := idle_warning(scenario, pen):
        yield warning
    yield from model_notes(scenario.model)
    yield from map(explain, budget.assumptions)


def idle_share(scenario: Scenario) -> float:
    """Share of a step that a pipeline idles: 0.75 of one microbatch on four ranks.

    0 where there are as many microbatches as ranks, or where the schedule has another formula.
    """
    plan = scenario.plan
    count, pp = plan.accumulation, plan.axes.pp
    if not 0 < count < pp or plan.schedule not in _ONE_AFTER_ANOTHER:
        return 0.0
    return (pp - 1) / (count + pp - 1)


def idle_warning(scenario: Scenario, pen: Pen) -> str:
    """What fewer microbatches than pipeline ranks cost; empty where there are enough."""
    plan = scenario.plan
    count, pp = plan.accumulation, plan.axes.pp
    if not 0 < count < pp:
        return ""
    if share := idle_share(scenario):
        return tr(
            "microbatches {count}, pp {pp}: the pipeline is idle {share} of the step; "
            "a larger global batch fills it",
            count=count, pp=pp, share=pen.numbers.percent(share),
        )  # fmt: skip
    return tr(
        "microbatches {count}, fewer than pp {pp}: ranks of the pipeline wait; "
        "a larger global batch fills it",
        count=count, pp=pp,
    )  # fmt: skip
