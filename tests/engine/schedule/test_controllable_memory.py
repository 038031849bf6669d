"""V-Half and V-Min: memory and bubble of arXiv:2405.15362, and of its authors' own scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.shape import Choices

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule

    Make = Callable[..., Schedule]

THEIRS: Final = json.loads(
    (Path(__file__).parents[2] / "golden" / "controllable_memory.json").read_text("utf-8")
)["cases"]
PEAK: Final = {"v-half": lambda p: (p + 2) // 2, "v-min": lambda p: (p + 4) // 3}
"""Microbatches of activations, two chunks each."""
AS_REPEATED: Final = Choices(reordered=False)


@pytest.mark.parametrize("ranks", range(4, 17))
@pytest.mark.parametrize("name", PEAK)
@pytest.mark.parametrize("choices", [Choices(), AS_REPEATED], ids=["reordered", "repeated"])
def test_peak_is_the_formula(name: str, ranks: int, choices: Choices, make: Make) -> None:
    result = evaluate(make(name, ranks, 4 * ranks, 2, choices))
    assert result.activations.peak.max() / 2 == PEAK[name](ranks)


@pytest.mark.parametrize(("name", "rate"), [("v-half", 1 / 2), ("v-min", 2 / 3)])
@pytest.mark.parametrize("ranks", range(4, 17))
def test_bubble_is_within_the_papers(name: str, rate: float, ranks: int, make: Make) -> None:
    """About p / 2m and 2p / 3m for F = I = W, by the paper's own definition."""
    microbatches = 4 * ranks
    assert evaluate(make(name, ranks, microbatches)).bubble.zero_bubble <= rate * ranks / microbatches


@pytest.mark.parametrize(("name", "ranks", "microbatches", "longest"), THEIRS)
def test_no_rank_takes_longer_than_in_the_authors_order(
    name: str, ranks: int, microbatches: int, longest: float, make: Make
) -> None:
    assert evaluate(make(name, ranks, microbatches)).timeline.spans.max() <= longest


@pytest.mark.parametrize("ranks", [*range(1, 11), 17, 24, 33])
@pytest.mark.parametrize("name", PEAK)
def test_any_shape_is_complete_and_never_worse_than_repeated_blocks(
    name: str, ranks: int, make: Make
) -> None:
    for microbatches in sorted({1, 2, 3, ranks - 1 or 1, ranks, ranks + 3, 2 * ranks + 1}):
        schedule = make(name, ranks, microbatches)
        assert check(schedule) == ()
        found = evaluate(schedule)
        repeated = evaluate(make(name, ranks, microbatches, 2, AS_REPEATED))
        assert found.activations.peak.max() / 2 <= PEAK[name](ranks)
        assert found.timeline.spans.max() <= repeated.timeline.spans.max()
        assert found.timeline.makespan <= repeated.timeline.makespan


def test_too_many_places_are_refused_unless_blocks_are_only_repeated(make: Make) -> None:
    with pytest.raises(
        ValueRangeError, match=r"v-half re-orders 262400 places .*; nearest valid: 819 microb"
    ):
        make("v-half", 160, 820)
    assert make("v-half", 160, 820, 2, AS_REPEATED).actions == 160 * 820 * 6
