"""A plan is refused exactly where a schedule cannot be built, on every small pipeline."""

from __future__ import annotations

import pytest

from scaletui_engine.errors import ScenarioError, UnknownNameError
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, entry
from scaletui_engine.schedule.registry import schedule_names as built_names
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule_rules import Placement, nearest_microbatches, schedule_names, schedule_rule

SHAPES = [(p, m, v) for p in (2, 3, 4) for m in (1, 2, 3, 4, 5, 6, 8, 9) for v in (1, 2, 3)]


def test_both_know_the_same_schedules() -> None:
    assert sorted(schedule_names()) == sorted(built_names())


def _builds(name: str, shape: Shape) -> bool:
    try:
        build(Request(name, shape))
    except ScenarioError:
        return False
    return True


def _allows(name: str, shape: Shape) -> bool:
    rule = schedule_rule(name)
    low, high = rule.chunks
    if shape.chunks < low or (high is not None and shape.chunks > high):
        return False
    if rule.even_ranks and shape.ranks % 2:
        return False
    return rule.refuses(shape.microbatches, shape.ranks) is None


@pytest.mark.parametrize("name", schedule_names())
def test_rules_agree_with_what_can_be_built(name: str) -> None:
    shapes = [Shape(*shape) for shape in SHAPES]
    assert [s for s in shapes if _allows(name, s)] == [s for s in shapes if _builds(name, s)]


@pytest.mark.parametrize("name", schedule_names())
def test_placements_agree(name: str) -> None:
    found = entry(name)
    expected = Placement.BIDIRECTIONAL if found.both_ways else Placement.V if found.vee else Placement.LOOP
    assert schedule_rule(name).placement is expected


@pytest.mark.parametrize("name", schedule_names())
@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_a_number_of_microbatches_is_always_near(name: str, ranks: int) -> None:
    rule = schedule_rule(name)
    for wanted in (1, ranks - 1, ranks, 2 * ranks + 1, 100):
        assert rule.refuses(nearest_microbatches(rule, ranks, wanted), ranks) is None


def test_names_are_exact() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown schedule 'gpipee', did you mean 'gpipe'\?"):
        schedule_rule("gpipee")
