"""Every schedule for 1 to 8 ranks and 1 to 16 microbatches: a plan, or a refusal that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, entry, schedule_names
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule_rules import Placement as RulePlacement
from scaletui_engine.schedule_rules import schedule_names as names_of_rules
from scaletui_engine.schedule_rules import schedule_rule

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED: dict[str, Callable[[int, int], object]] = {
    "interleaved-1f1b": lambda p, m: m < p or 0 < m % p < p,
    "combined-1f1b": lambda p, m: m < p or 0 < m % p < p,
    "dualpipe": lambda p, m: p % 2 or m % 2 or m < 2 * p,
    "dualpipev": lambda p, m: m < 2 * p,
    "DualPipeV": lambda p, m: m < 2 * p,
    "1F1B": lambda p, m: m < p,
    "Interleaved1F1B": lambda p, m: m % max(1, m // p),
    "InterleavedZeroBubble": lambda p, m: m % max(1, m // p),
    "interleaved-zero-bubble": lambda p, m: m % max(1, m // p),
}
"""When each must refuse; every other schedule takes any shape."""


def _never(ranks: int, microbatches: int) -> bool:
    return ranks + microbatches < 0


def _chunks(name: str) -> tuple[int, ...]:
    low, high = entry(name).chunks
    return (low, low + 1) if high is None else (low,)


@pytest.mark.parametrize("ranks", range(1, 9))
@pytest.mark.parametrize("name", schedule_names())
def test_a_plan_or_a_refusal(name: str, ranks: int) -> None:
    refused = REFUSED.get(name, _never)
    for microbatches in range(1, 17):
        for chunks in _chunks(name):
            request = Request(name, Shape(ranks, microbatches, chunks))
            if refused(ranks, microbatches):
                with pytest.raises(
                    ScenarioError, match=rf"{name}.*\b({ranks}|{microbatches})\b.*; nearest valid: "
                ):
                    build(request)
                continue
            schedule = build(request)
            assert check(schedule) == ()
            assert simulate(schedule).makespan >= 3 * microbatches * chunks - 1e-9


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (Shape(0, 4), "ranks 0 < 1"),
        (Shape(4, 0), "microbatches 0 < 1"),
        (Shape(4, -3), "microbatches -3 < 1"),
        (Shape(4, 4, 0), "chunks 0 < 1"),
        (Shape(4, 4, 2), "1f1b holds 1 chunks a rank, not 2; nearest valid: chunks 1"),
        (Shape(70000, 4), "ranks 70000 x chunks 1 = 70000 stages > 65536"),
        (Shape(64, 1 << 20), "64 stages x 1048576 microbatches = 67108864 > 2097152"),
    ],
)
def test_sizes_that_mean_nothing(shape: Shape, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        build(Request("1f1b", shape))


@pytest.mark.parametrize("name", names_of_rules())
def test_the_rules_of_the_scenario_know_the_same_schedules(name: str) -> None:
    rule, found = schedule_rule(name), entry(name)
    placement = found.placement(4, found.default_chunks)
    assert (rule.placement is RulePlacement.V) == found.vee
    assert (rule.placement is RulePlacement.BIDIRECTIONAL) == (placement.replicas == 2)
    assert rule.chunks[1] == found.chunks[1]


def test_every_schedule_has_a_rule() -> None:
    assert set(names_of_rules()) == set(schedule_names())
