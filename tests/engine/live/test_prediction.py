"""Predicted bytes by hand: padding, empty shards, meshes, optimizers, and what has no rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.live.plan_document import (
    JobPlan,
    OptimizerGroup,
    PlanFault,
    PlannedGroup,
    PlannedOptimizer,
    PlannedParameter,
)
from scaletui_engine.live.predicted import Unpredicted
from scaletui_engine.live.prediction import predict

W = PlannedParameter("w", (10, 3), "float32", True, 0, 0, 0, ("S(0)",), (4,), (0,), "cpu")
ADAMW = PlannedOptimizer("torch.optim.adamw.AdamW", (OptimizerGroup({"amsgrad": False}),))
FOUR = PlannedGroup("", 4, None, None, True)
PLAN = JobPlan(1, "fsdp2", (), (4,), (0,), (ADAMW,), (FOUR,), (W,), 1)


def states(plan: JobPlan) -> tuple[int | None, int | None, int | None]:
    held = predict(plan).held
    return held.weights, held.gradients, held.optimizer


def of(parameter: PlannedParameter, **plan: object) -> JobPlan:
    return replace(PLAN, parameters=(parameter,), **plan)


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        pytest.param(W, (36, 36, 76), id="10 rows on 4 ranks: 3 of them, no padding"),
        pytest.param(replace(W, coordinate=(3,)), (36, 36, 28), id="last rank: 1 row, padded to 3"),
        pytest.param(
            replace(W, shape=(1,), coordinate=(3,)), (4, 4, 4), id="empty shard: padding and a step"
        ),
        pytest.param(replace(W, trainable=False, optimizer=None, param_group=None), (36, 0, 0), id="frozen"),
        pytest.param(replace(W, dtype="bfloat16"), (18, 18, 40), id="bf16: moments follow the parameter"),
        pytest.param(
            replace(W, placements=("R", "S(0)"), mesh_shape=(2, 4), coordinate=(1, 3)),
            (36, 36, 28),
            id="hsdp: only the second axis cuts",
        ),
        pytest.param(
            replace(W, shape=(10, 8), placements=("S(0)", "S(1)"), mesh_shape=(4, 2), coordinate=(3, 1)),
            (48, 48, 36),
            id="fsdp over tensor parallelism by rows: 4 columns, then 3 padded rows",
        ),
        pytest.param(
            replace(W, placements=("_S(0, 2)", "S(0)"), mesh_shape=(4, 2), coordinate=(0, 1)),
            (24, 24, 52),
            id="fsdp over tensor parallelism by columns: 5 rows, then 2 of them",
        ),
        pytest.param(
            replace(W, fsdp_group=None, placements=("S(0)",), coordinate=(3,)),
            (12, 12, 28),
            id="sharded by hand, outside FSDP: not padded",
        ),
        pytest.param(
            replace(W, fsdp_group=None, placements=(), mesh_shape=(), coordinate=()),
            (120, 120, 244),
            id="a plain tensor",
        ),
    ],
)
def test_one_parameter(parameter, expected):
    assert states(of(parameter)) == expected


def optimizer(name: str, **arguments: object) -> PlannedOptimizer:
    return PlannedOptimizer(f"torch.optim.{name}", (OptimizerGroup(arguments),))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param(optimizer("adamw.AdamW"), 76, id="AdamW: two moments, one step"),
        pytest.param(optimizer("adam.Adam", amsgrad=True), 112, id="amsgrad: three moments"),
        pytest.param(optimizer("adamw.AdamW", fused=True), 76, id="fused: the step lies elsewhere"),
        pytest.param(optimizer("sgd.SGD", momentum=0), 0, id="SGD"),
        pytest.param(optimizer("sgd.SGD", momentum=0.9), 36, id="momentum, no step"),
        pytest.param(optimizer("nadam.NAdam"), 80, id="NAdam: a step and a product of momenta"),
        pytest.param(optimizer("rmsprop.RMSprop", centered=True, momentum=0.1), 112, id="RMSprop, all of it"),
        pytest.param(optimizer("adagrad.Adagrad"), 40, id="Adagrad"),
        pytest.param(
            PlannedOptimizer("my.AdamW", (OptimizerGroup({}),)), None, id="a class of the job's own"
        ),
        pytest.param(optimizer("lbfgs.LBFGS"), None, id="one without a rule"),
    ],
)
def test_optimizers(kind, expected):
    assert states(replace(PLAN, optimizers=(kind,))) == (36, 36, expected)


def test_groups_of_different_optimizers_add_up():
    two = (W, replace(W, name="v", optimizer=1))
    plan = replace(PLAN, parameters=two, parameters_total=2, optimizers=(ADAMW, optimizer("sgd.SGD")))
    assert states(plan) == (72, 72, 76)


FLAT = replace(W, shape=(901,), fsdp_group=0, placements=(), mesh_shape=(), coordinate=())
"""A shard of a flat parameter: as long as every rank's, the padding of the last one included."""


def test_a_flat_parameter_of_fsdp1_is_its_padded_shard():
    assert states(of(FLAT, wrapper="fsdp1")) == (3604, 3604, 7212)


def test_original_parameters_of_fsdp1_decide_the_optimizer_alone():
    mine, others = replace(FLAT, shape=(31,), fsdp_group=None), replace(FLAT, shape=(0,), fsdp_group=None)
    plan = replace(PLAN, wrapper="fsdp1", groups=(), parameters=(mine, others), parameters_total=2)
    assert states(plan) == (None, None, 252)
    assert predict(plan).reason is Unpredicted.FLAT


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        pytest.param(PlanFault("not JSON"), Unpredicted.PLAN_BROKEN, id="no plan"),
        pytest.param(replace(PLAN, parameters_total=9), Unpredicted.PLAN_CUT, id="8 parameters missing"),
        pytest.param(replace(PLAN, wrapper="deepspeed"), Unpredicted.WRAPPER, id="wrapper"),
        pytest.param(of(replace(W, placements=("P(sum)",))), Unpredicted.PLACEMENT, id="partial"),
        pytest.param(of(replace(W, placements=("S(7)",))), Unpredicted.PLACEMENT, id="no such dim"),
        pytest.param(of(W, groups=()), Unpredicted.PLACEMENT, id="no such FSDP group"),
        pytest.param(of(replace(W, dtype="int3")), Unpredicted.DTYPE, id="no such dtype"),
        pytest.param(
            replace(PLAN, optimizers=(optimizer("lbfgs.LBFGS"),)), Unpredicted.OPTIMIZER, id="optimizer"
        ),
    ],
)
def test_what_has_no_rule_says_which(plan, reason):
    prediction = predict(plan)
    assert prediction.reason is reason
    assert prediction.held.optimizer is None
