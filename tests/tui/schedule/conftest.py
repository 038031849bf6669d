"""Pictures of small schedules, and looks at them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.schedule import Question, picture
from scaletui.state.schedule_look import Look
from scaletui.state.schedule_sight import Sight
from scaletui_engine.defaults import Choices, scenario_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario


@pytest.fixture(scope="session")
def scenario() -> Callable[..., Scenario]:
    """Llama 3 8B on `ranks` pipeline ranks, `microbatches` a step."""

    def make(name: str = "1f1b", ranks: int = 4, microbatches: int = 8, chunks: int = 1) -> Scenario:
        return scenario_from(
            Choices(
                model="llama3-8b", gpu="h100-sxm", gpus=ranks, pp=ranks, global_batch=microbatches,
                schedule=name, chunks=chunks,
            )
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def make_sight(scenario: Callable[..., Scenario]) -> Callable[..., Sight]:
    """A sight of a simulated schedule; keywords of the look and of the question in one."""

    def make(name: str = "1f1b", ranks: int = 4, microbatches: int = 8, **options: object) -> Sight:
        chunks = int(str(options.pop("chunks", 1)))
        look = replace(Look(), **options)  # type: ignore[arg-type]
        about = scenario(name, ranks, microbatches, chunks)
        question = Question(about, look.unit, look.beside, look.messages, look.update)
        return Sight(picture(question), look)

    return make
