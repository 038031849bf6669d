"""Sharded bytes of given parameters: the arithmetic, by hand."""

from __future__ import annotations

import pytest

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.memory.fsdp2 import Moments, ParameterShape, Shard, sharded_bytes

LINEAR = ParameterShape("w", (10, 3))


@pytest.mark.parametrize(
    ("rank", "weights", "moments"),
    [
        pytest.param(0, 36, 72, id="first chunk of 3 rows"),
        pytest.param(2, 36, 72, id="third chunk of 3 rows"),
        pytest.param(3, 36, 24, id="last chunk of 1 row is padded to 3"),
    ],
)
def test_ten_rows_on_four_ranks(rank: int, weights: int, moments: int) -> None:
    held = sharded_bytes([LINEAR], Shard(4, rank))
    assert (held.weights, held.gradients, held.moments) == (weights, weights, moments)


def test_an_empty_shard_still_pays_for_its_padding() -> None:
    held = sharded_bytes([ParameterShape("w", (5, 2))], Shard(4, 3))
    assert (held.weights, held.gradients, held.moments) == (16, 16, 0)


def test_a_replica_holds_everything() -> None:
    held = sharded_bytes([LINEAR, ParameterShape("b", (3,), "bfloat16"), ParameterShape("s", ())], Shard())
    assert (held.weights, held.gradients, held.moments) == (130, 130, 260)


@pytest.mark.parametrize(("on_device", "expected"), [(False, (0, 8)), (True, (8, 0))])
def test_a_step_scalar_a_parameter_lives_on_one_device(on_device: bool, expected: tuple[int, int]) -> None:
    held = sharded_bytes([LINEAR, LINEAR], Shard(2), Moments(steps_on_device=on_device))
    assert (held.device_steps, held.host_steps) == expected
    assert held.optimizer == held.moments + 8


def test_a_frozen_parameter_has_weights_alone() -> None:
    held = sharded_bytes([ParameterShape("w", (10, 3), trainable=False)], Shard(4, 0))
    assert (held.weights, held.gradients, held.optimizer) == (36, 0, 0)


@pytest.mark.parametrize(
    ("parameter", "shard", "words"),
    [
        pytest.param(LINEAR, Shard(4, 4), "rank 4 is not in 0 <= rank < degree = 4", id="rank"),
        pytest.param(ParameterShape("s", ()), Shard(2), "no dim 0", id="scalar"),
        pytest.param(ParameterShape("w", (2,), "int4"), Shard(2), "'int4'", id="dtype"),
    ],
)
def test_what_cannot_be_sharded_is_refused(parameter: ParameterShape, shard: Shard, words: str) -> None:
    with pytest.raises(ValueRangeError, match=words):
        sharded_bytes([parameter], shard)
