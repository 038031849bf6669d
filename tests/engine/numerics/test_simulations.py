"""Every simulation on several ranks: equal to one device, and counts as predicted."""

from __future__ import annotations

import pytest

from scaletui_engine.errors import DivisibilityError, UnknownNameError, ValueRangeError
from scaletui_engine.memory.fsdp2 import Moments, ParameterShape, Shard, sharded_bytes
from scaletui_engine.numerics.data_parallel import unweighted_mean_error
from scaletui_engine.numerics.perceptron import weights
from scaletui_engine.numerics.simulations import SIMULATIONS, simulate


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("name", SIMULATIONS)
def test_ranks_equal_one_device(name: str, ranks: int) -> None:
    outcome = simulate(name, ranks)
    assert outcome.error < 1e-12
    assert outcome.compared > 100
    assert [each.counted for each in outcome.held] == [each.predicted for each in outcome.held]
    assert outcome.predicted_sent in (None, outcome.sent)
    assert outcome.exact


@pytest.mark.parametrize("name", ["dp", "ddp", "pp", "zero1", "zero2", "zero3", "fsdp", "cp"])
def test_three_ranks_share_unevenly(name: str) -> None:
    assert simulate(name, 3).exact


def test_a_plain_mean_over_uneven_shards_is_wrong() -> None:
    assert unweighted_mean_error(3) > 1e-3
    assert unweighted_mean_error(2) < 1e-12


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_fsdp_holds_what_the_memory_engine_says(ranks: int) -> None:
    shapes = [ParameterShape(str(index), param.shape, "float64") for index, param in enumerate(weights())]
    expected = sharded_bytes(shapes, Shard(ranks), Moments(0))
    held = {each.part: each.counted for each in simulate("fsdp", ranks).held}
    assert (held["weights"] * 8, held["gradients"] * 8) == (expected.weights, expected.gradients)


@pytest.mark.parametrize(
    ("name", "ranks", "error", "message"),
    [
        ("tp", 3, DivisibilityError, "8 heads / tp 3 = 2.667, not a whole number; nearest valid: tp 2"),
        ("ep", 5, DivisibilityError, "8 experts / ep 5"),
        ("pp", 9, DivisibilityError, "8 layers on 9 stages"),
        ("dp", 0, ValueRangeError, "0 ranks are not in 1 <= ranks <= 64"),
        ("fdsp", 2, UnknownNameError, "did you mean 'fsdp'"),
    ],
)
def test_refusals(name: str, ranks: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        simulate(name, ranks)
