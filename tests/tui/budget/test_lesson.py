"""The lesson's accounting of the scenario on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.budget import BudgetState
from scaletui.state.lesson import lesson_bytes, lesson_lines
from scaletui.view.box import Box
from scaletui.view.budget_lesson import lesson_rows
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.edit import edit
from scaletui_engine.lesson import memory_calculator
from scaletui_engine.tensors import count_parameters

if TYPE_CHECKING:
    from scaletui.state.answer import Answer


@pytest.mark.parametrize(
    ("strategy", "sharding"),
    [("ddp", "none"), ("zero1", "zero1"), ("zero2", "zero2"), ("zero3", "zero3"), ("fsdp", "fsdp")],
)
def test_the_figures_are_the_calculators_own(small: Answer, strategy: str, sharding: str) -> None:
    scenario = edit(small.scenario, "strategy", strategy)
    arch = scenario.model.arch
    billions = count_parameters(arch).total / 1e9
    said = memory_calculator(billions, 2, "adam", 8, sharding, 4096, 1, arch.hidden, arch.layers)
    found = lesson_bytes(scenario)
    for part in ("weights", "gradients", "optimizer", "activations"):
        assert found[part] == round(said[f"{part}_gb"] * 1e9)  # type: ignore[literal-required]


def test_every_part_has_a_line_and_the_differences_add_up(small: Answer) -> None:
    parts = small.budget.stages[0].parts
    lines = lesson_lines(small.scenario, parts)
    assert [line.part for line in lines] == [part for part, _ in parts.items()]
    assert sum(line.difference for line in lines) == parts.total - sum(lesson_bytes(small.scenario).values())


@pytest.mark.parametrize("width", [28, 36, 46, 80])
def test_rows_are_as_wide_as_asked_and_say_why(small: Answer, width: int) -> None:
    rows = lesson_rows(BudgetState(small), Box(width, 40), Pen())
    assert {row_width(row) for row in rows} == {width}
    text = " ".join("".join(span.text for span in row).strip() for row in rows)
    assert "The lesson has no logits." in text
    assert "no fp32 master weights" not in text
