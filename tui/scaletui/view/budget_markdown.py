"""The budget as Markdown: the answer, the plan, and a table of every stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.editing import value_text
from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.assumed import assumed
from scaletui.view.budget_answer import verdict_spans
from scaletui.view.facts import scenario_facts
from scaletui.view.field_names import field_name
from scaletui_engine.edit import FIELDS
from scaletui_engine.memory.budget import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.answer import Answer
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.budget import StageBudget


def budget_markdown(answer: Answer, pen: Pen) -> str:
    """A page that reads alone, in the language in force."""
    budget, unit = answer.budget, pen.numbers.unit
    verdict = "".join(span.text for span in verdict_spans(budget, pen)).strip()
    capacity = pen.numbers.bytes(budget.capacity_bytes)
    lines = [
        f"# {' · '.join(scenario_facts(answer.scenario, pen))}",
        "",
        f"**{verdict}** ({tr('of {capacity}', capacity=capacity)})",
        "",
        *_table([tr("stages"), *(explain(part) for part in PARTS), *_others(unit)], _stages(answer, pen)),
        "",
        *_table([tr("plan"), ""], ([field_name(name), value_text(answer.scenario, name)] for name in FIELDS)),
        "",
        *(f"- {sentence}" for sentence in assumed(answer.scenario, budget, pen)),
    ]
    return "\n".join(lines) + "\n"


def _others(unit: str) -> list[str]:
    return [f"{tr('allocated')} ({unit})", tr("reserved"), tr("outside"), tr("peak")]


def _stages(answer: Answer, pen: Pen) -> Iterator[list[str]]:
    for stage in answer.budget.stages:
        yield [str(stage.stage), *_figures(stage, pen), explain(f"phase.{stage.phase}")]


def _figures(stage: StageBudget, pen: Pen) -> list[str]:
    gib = pen.numbers.gib
    ranges = (f"{gib(span.low)}-{gib(span.high)}" for span in (stage.reserved, stage.outside))
    return [*(gib(amount) for _, amount in stage.parts.items()), gib(stage.peak_bytes), *ranges]


def _table(heads: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
