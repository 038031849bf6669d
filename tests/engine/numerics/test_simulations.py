"""Every simulation on several ranks: equal to one device, and counts as predicted."""

from __future__ import annotations

import numpy as np
import pytest

from scaletui_engine.errors import DivisibilityError, UnknownNameError, ValueRangeError
from scaletui_engine.memory.fsdp2 import Moments, ParameterShape, Shard, sharded_bytes
from scaletui_engine.numerics.data_parallel import unweighted_mean_error
from scaletui_engine.numerics.loss_scaling import START, STEPS, _train
from scaletui_engine.numerics.perceptron import weights
from scaletui_engine.numerics.simulations import SIMULATIONS, simulate
from scaletui_engine.numerics.wire_log import WireLog


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("name", SIMULATIONS)
def test_ranks_equal_one_device(name: str, ranks: int) -> None:
    outcome = simulate(name, ranks)
    assert outcome.error < 1e-12
    assert outcome.compared > 100
    assert [each.counted for each in outcome.held] == [each.predicted for each in outcome.held]
    assert outcome.predicted_sent in (None, outcome.sent)
    assert outcome.exact


@pytest.mark.parametrize(
    "name", ["dp", "ddp", "pp", "zero1", "zero2", "zero3", "fsdp", "cp", "formats", "loss-scaling"]
)
def test_three_ranks_share_unevenly(name: str) -> None:
    assert simulate(name, 3).exact


def test_a_plain_mean_over_uneven_shards_is_wrong() -> None:
    assert unweighted_mean_error(3) > 1e-3
    assert unweighted_mean_error(2) < 1e-12


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 6, 8, 16])
@pytest.mark.parametrize("name", ["dp", "ddp", "accumulation", "zero1", "zero2", "zero3", "fsdp"])
def test_ranks_hold_the_memory_engines_states(name: str, ranks: int) -> None:
    """Weights, gradients and moments, counted in the arrays of a rank at their peak."""
    held = [each for each in simulate(name, ranks).held if each.part != "unsharded"]
    assert len(held) == (2 if name in ("dp", "ddp", "accumulation") else 3)
    assert [each.counted for each in held] == [each.memory for each in held]


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("name", ["tp", "sp", "ep"])
def test_ranks_hold_the_layer_that_the_memory_engine_cuts(name: str, ranks: int) -> None:
    (held,) = simulate(name, ranks).held
    assert held.counted == held.memory


def test_formats_are_equal_to_the_last_bit() -> None:
    assert simulate("formats", 4).error == 0
    assert simulate("formats", 4).compared > 1000


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_a_scale_that_overflows_skips_steps_on_every_rank(ranks: int) -> None:
    params, scale, skipped = _train(ranks, WireLog(ranks))
    assert 0 < skipped < STEPS
    assert scale < START
    assert all(np.any(param != start) for param, start in zip(params, weights(), strict=True))


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
