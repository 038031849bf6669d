"""Schedules and published facts for every test of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_engine.schedule.orders.request import DEFAULT_CHOICES, Request
from scaletui_engine.schedule.registry import build, entry
from scaletui_engine.schedule.shape import Choices, Shape

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scaletui_engine.schedule.schedule import Schedule

    Make: TypeAlias = Callable[..., Schedule]

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(scope="session")
def facts() -> dict[str, Any]:
    """tests/golden/pipeline.json."""
    found: dict[str, Any] = json.loads((GOLDEN / "pipeline.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="session")
def make() -> Make:
    """make(name, ranks, microbatches, chunks=None, choices=...): a schedule with its default chunks."""

    def made(
        name: str,
        ranks: int,
        microbatches: int,
        chunks: int | None = None,
        choices: Choices = DEFAULT_CHOICES,
    ) -> Schedule:
        shape = Shape(ranks, microbatches, entry(name).default_chunks if chunks is None else chunks)
        return build(Request(name, shape, choices))

    return made


@pytest.fixture(scope="session")
def cells() -> Callable[[Schedule], list[list[str]]]:
    """cells(schedule): every cell as text, rank by rank."""
    return lambda schedule: [list(map(str, schedule.steps(rank))) for rank in range(schedule.ranks)]
