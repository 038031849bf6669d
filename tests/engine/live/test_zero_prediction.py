"""ZeRO's partitions by hand, and as DeepSpeed 0.19.8 held them in a real job.

The job is tests/probe/jobs/zero.py on two to four ranks: three layers, their weights in one parameter group
and their biases in the other. `tests/probe/test_zero_jobs.py` runs it where there is a DeepSpeed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from scaletui_engine.live.plan_document import (
    JobPlan,
    OptimizerGroup,
    PlannedGroup,
    PlannedOptimizer,
    PlannedParameter,
    ZeroSettings,
)
from scaletui_engine.live.predicted import Unpredicted, ZeroLack
from scaletui_engine.live.prediction import predict

PARTS = ("weights", "gradients", "optimizer", "master_weights")
SHAPES = ((310, 170), (170, 310), (1, 170), (310,), (170,), (1,))
ADAMW = PlannedOptimizer("torch.optim.adamw.AdamW", (OptimizerGroup({"amsgrad": False}),))


@dataclass(frozen=True)
class Seat:
    """Which of how many ranks."""

    rank: int
    world_size: int = 2


def plan_of(stage: int, dtype: str = "bfloat16", shards: int = 2, **plan: object) -> JobPlan:
    rows = tuple(
        PlannedParameter(f"p{index}", shape, dtype, True, None, None, index // 3, (), (), (), "cpu")
        for index, shape in enumerate(SHAPES)
    )
    groups = tuple(
        PlannedGroup(f"zero{stage}.{number}", shards, dtype, None, stage == 3) for number in (0, 1)
    )
    found = JobPlan(1, "deepspeed", (), (), (), (ADAMW,), groups, rows, len(rows))
    return replace(found, **plan)


def with_settings(plan: JobPlan, **settings: object) -> JobPlan:
    groups = tuple(replace(group, zero=ZeroSettings(**settings)) for group in plan.groups)
    return replace(plan, groups=groups)


HELD = {
    (1, "bfloat16", Seat(0)): (212112, 422564, 424232, 212112),
    (1, "bfloat16", Seat(1)): (212112, 317852, 424232, 212112),
    (1, "float32", Seat(0)): (424224, 633984, 424232, 212112),
    (1, "float32", Seat(1)): (424224, 424560, 424232, 212112),
    (2, "bfloat16", Seat(0)): (212112, 422564, 424232, 212112),
    (2, "bfloat16", Seat(1)): (212112, 317852, 424232, 212112),
    (2, "float32", Seat(0)): (424224, 633984, 424232, 212112),
    (2, "float32", Seat(1)): (424224, 424560, 424232, 212112),
    (2, "float32", Seat(0, 3)): (424224, 212040, 282824, 141408),
    (2, "float32", Seat(1, 3)): (424224, 564280, 282824, 141408),
    (2, "float32", Seat(2, 3)): (424224, 352944, 282824, 141408),
    (1, "bfloat16", Seat(0, 4)): (212128, 211596, 212136, 106064),
    (1, "bfloat16", Seat(1, 4)): (212128, 316996, 212136, 106064),
    (1, "bfloat16", Seat(2, 4)): (212128, 211936, 212136, 106064),
    (1, "bfloat16", Seat(3, 4)): (212128, 211672, 212136, 106064),
    (1, "float32", Seat(2, 4)): (424256, 212720, 212136, 106064),
    (1, "float32", Seat(3, 4)): (424256, 317768, 212136, 106064),
    (3, "bfloat16", Seat(0)): (106052, 317192, 424216, 212104),
    (3, "float32", Seat(1)): (212104, 423244, 424216, 212104),
    (3, "float32", Seat(2, 3)): (141412, 282176, 282832, 141412),
}
"""Stage, dtype and rank -> the bytes of `PARTS` that were counted in the job itself."""


@pytest.mark.parametrize(("stage", "dtype", "seat"), HELD, ids=str)
def test_what_a_real_job_held(stage, dtype, seat):
    prediction = predict(plan_of(stage, dtype, seat.world_size), seat)
    assert tuple(getattr(prediction.held, part) for part in PARTS) == HELD[stage, dtype, seat]
    assert prediction.reason is Unpredicted.NOTHING


IN_TURNS = {
    (2, "bfloat16", Seat(0)): (212112, 317504, 424232, 212112),
    (2, "bfloat16", Seat(1)): (212112, 317852, 424232, 212112),
}
"""The same with `round_robin_gradients`."""


@pytest.mark.parametrize(("stage", "dtype", "seat"), IN_TURNS, ids=str)
def test_what_a_real_job_held_whose_parameters_lie_in_turns(stage, dtype, seat):
    plan = with_settings(plan_of(stage, dtype, seat.world_size), round_robin=True)
    prediction = predict(plan, seat)
    assert tuple(getattr(prediction.held, part) for part in PARTS) == IN_TURNS[stage, dtype, seat]
    assert prediction.reason is Unpredicted.NOTHING


def test_hpz_keeps_a_second_copy_in_fewer_pieces():
    """As two ranks held it, each of them the whole; four ranks in pairs keep a quarter and a half."""
    pair = with_settings(plan_of(3), secondary_shards=2)
    assert predict(pair, Seat(0)).held.weights == 106052 + 106052
    assert predict(pair, Seat(0)).held.gradients == predict(plan_of(3), Seat(0)).held.gradients
    four = predict(with_settings(plan_of(3, shards=4), secondary_shards=2), Seat(0)).held.weights
    elements = [52700, 52700, 172, 312, 172, 4]
    assert four == sum(2 * (size // 4 + size // 2) for size in elements)


@pytest.mark.parametrize(
    ("settings", "missing", "lack"),
    [
        ({"contiguous": False}, ("gradients",), ZeroLack.SCATTERED),
        ({"accumulation_dtype": "float32"}, ("gradients",), ZeroLack.ACCUMULATED),
        ({"accumulation_dtype": "bfloat16"}, (), None),
        ({"quantized": True}, ("weights", "gradients"), ZeroLack.QUANTIZED),
        ({"aligned": True}, PARTS, ZeroLack.ALIGNED),
    ],
    ids=str,
)
def test_settings_without_a_rule_are_never_a_wrong_number(settings, missing, lack):
    prediction = predict(with_settings(plan_of(1), **settings), Seat(0))
    assert {part for part in PARTS if getattr(prediction.held, part) is None} == set(missing)
    reason = Unpredicted.NOTHING if lack is None else Unpredicted.ZERO
    assert (prediction.reason, prediction.detail) == (reason, lack or "")


@pytest.mark.parametrize(
    ("stage", "settings", "gradients"),
    [
        (2, {"accumulation_dtype": "float32"}, 212112),
        (3, {"accumulation_dtype": "float32"}, 423244),
        (3, {"contiguous": False}, 317192),
    ],
    ids=str,
)
def test_gradients_that_a_real_job_kept_otherwise(stage, settings, gradients):
    prediction = predict(with_settings(plan_of(stage), **settings), Seat(0))
    assert (prediction.held.gradients, prediction.reason) == (gradients, Unpredicted.NOTHING)


def test_three_elements_on_two_ranks_by_hand():
    """A buffer of 3 is padded to 4: rank 1 holds one element of the parameter and one of padding."""
    row = PlannedParameter("p", (3,), "bfloat16", True, None, None, 0, (), (), (), "cpu")
    group = PlannedGroup("zero2.0", 2, "bfloat16", None, False)
    plan = plan_of(2, groups=(group,), parameters=(row,), parameters_total=1)
    held = predict(plan, Seat(1)).held
    assert (held.weights, held.master_weights, held.optimizer) == (4 * 2, 2 * 4, 2 * 2 * 4 + 4)
    assert held.gradients == 2 * 4 + 3 * 2


@pytest.mark.parametrize(
    ("plan", "seat", "reason", "missing"),
    [
        pytest.param(plan_of(2), None, Unpredicted.ZERO, {"gradients"}, id="who it is, is not known"),
        pytest.param(plan_of(2), Seat(0, 4), Unpredicted.ZERO, {"gradients"}, id="other parallelism"),
        pytest.param(plan_of(3), None, Unpredicted.NOTHING, set(), id="stage 3 is alike on all ranks"),
        pytest.param(
            plan_of(1, groups=tuple(replace(group, offload=True) for group in plan_of(1).groups)),
            Seat(0),
            Unpredicted.ZERO,
            {"gradients"},
            id="offload",
        ),
        pytest.param(
            plan_of(3, optimizers=(replace(ADAMW, name="my.Adam"),)),
            Seat(0),
            Unpredicted.OPTIMIZER,
            {"optimizer"},
            id="an optimizer without a rule",
        ),
        pytest.param(
            plan_of(3, optimizers=(ADAMW, replace(ADAMW, name="torch.optim.sgd.SGD"), ADAMW)),
            Seat(0),
            Unpredicted.OPTIMIZER,
            {"optimizer"},
            id="unlike optimizers for groups that cannot be told apart",
        ),
        pytest.param(plan_of(1, groups=()), Seat(0), Unpredicted.WRAPPER, set(PARTS), id="another wrapper"),
        pytest.param(plan_of(1, "int3"), Seat(0), Unpredicted.DTYPE, set(PARTS), id="no such dtype"),
    ],
)
def test_what_has_no_rule_is_left_out_and_said(plan, seat, reason, missing):
    prediction = predict(plan, seat)
    assert {part for part in PARTS if getattr(prediction.held, part) is None} == set(missing)
    assert prediction.reason is reason


def test_deepspeeds_own_adam_keeps_no_step_tensor():
    fused = PlannedOptimizer("deepspeed.ops.adam.fused_adam.FusedAdam", (OptimizerGroup({}),))
    assert predict(plan_of(3, optimizers=(fused,)), Seat(0)).held.optimizer == 424216 - 8
