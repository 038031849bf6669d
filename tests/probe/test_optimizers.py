"""Which number the training step has when a process has several optimizers."""

from __future__ import annotations

import pytest

from scaletui_probe.budget import Budget
from scaletui_probe.optimizers import Optimizers


class FakeOptimizer:
    """An object that can be held weakly."""


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        pytest.param("aaa", 3, id="one-optimizer"),
        pytest.param("ababab", 3, id="muon-beside-adamw"),
        pytest.param("aaaab" * 2, 8, id="critic-five-times-to-one"),
        pytest.param("abcdefgh" * 2, 2, id="one-optimizer-per-parameter"),
        pytest.param("aabb", 2, id="one-after-the-other"),
        pytest.param("", 0, id="none-yet"),
    ],
)
def test_the_step_is_that_of_the_most_frequent(order: str, expected: int) -> None:
    optimizers = {name: FakeOptimizer() for name in order}
    table = Optimizers()
    begun = 0
    for name in order:
        leads = table.leads(optimizers[name])
        assert table.stepped(optimizers[name]) is leads
        begun += leads
    assert (table.step, begun) == (expected, expected)
    assert len(table.alive()) == len(set(order))


def test_an_optimizer_that_is_gone_is_forgotten_and_the_step_stays() -> None:
    table = Optimizers()
    first = FakeOptimizer()
    table.stepped(first)
    table.stepped(first)
    del first
    assert (table.alive(), table.step) == ([], 2)


def test_work_waits_until_its_share_of_the_time_allows_more() -> None:
    budget = Budget(share=0.01)
    assert budget.next_ns == 0
    budget.spent(now_ns=1_000, cost_ns=50)
    assert budget.next_ns == 1_000 + 5_000
