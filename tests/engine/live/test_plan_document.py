"""Plans are data from a stranger: whatever is wrong with one is a value."""

from __future__ import annotations

import json
import random

import pytest

from scaletui_engine.live.plan_document import JobPlan, PlanFault, parse_plan
from scaletui_engine.live.predicted import Prediction
from scaletui_engine.live.prediction import predict
from scaletui_probe.layout import PARAMETER_COLUMNS

ROW = ["w", [10, 3], "float32", True, 0, 0, 0, ["S(0)"], ["dp"], [4], [1], "cpu"]
GOOD = {
    "version": 1,
    "step": 1,
    "wrapper": "fsdp2",
    "mesh": {"device_type": "cpu", "shape": [4], "names": ["dp"]},
    "coordinate": [1],
    "optimizers": [
        {
            "class": "torch.optim.adamw.AdamW",
            "groups": [{"tensors": 1, "numel": 30, "arguments": {"lr": 0.1}}],
        }
    ],
    "fsdp_groups": [
        {"name": "", "param_dtype": None, "reduce_dtype": None, "reshard_after_forward": True, "shards": 4}
    ],
    "parameter_columns": list(PARAMETER_COLUMNS),
    "parameters": [ROW],
    "parameters_total": 1,
    "buffers": [],
}


def test_a_plan_names_the_device_or_none():
    named = parse_plan(json.dumps({**GOOD, "device_name": "NVIDIA H100 PCIe"}).encode())
    unnamed = parse_plan(json.dumps(GOOD).encode())
    assert isinstance(named, JobPlan)
    assert isinstance(unnamed, JobPlan)
    assert (named.device_name, unnamed.device_name) == ("NVIDIA H100 PCIe", "")
    assert isinstance(parse_plan(json.dumps({**GOOD, "device_name": 3}).encode()), PlanFault)


def test_a_plan_is_read_back():
    plan = parse_plan(json.dumps(GOOD).encode())
    assert isinstance(plan, JobPlan)
    (parameter,) = plan.parameters
    assert (parameter.name, parameter.shape, parameter.placements) == ("w", (10, 3), ("S(0)",))
    assert plan.optimizers[0].groups[0].arguments == {"lr": 0.1}
    assert plan.complete


def test_columns_may_stand_in_another_order_and_new_ones_may_come():
    columns = ["new", *reversed(PARAMETER_COLUMNS)]
    row = [1, *reversed(ROW)]
    plan = parse_plan(json.dumps({**GOOD, "parameter_columns": columns, "parameters": [row]}).encode())
    assert isinstance(plan, JobPlan)
    assert plan.parameters[0].shape == (10, 3)


def row(**cells: object) -> dict[str, object]:
    """A plan whose parameter has other values."""
    changed = [cells.get(name, value) for name, value in zip(PARAMETER_COLUMNS, ROW, strict=True)]
    return {"parameters": [changed]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"parameters": None}, "parameters is not a list"),
        ({"parameters": [[1, 2]]}, "a row of 2 values for 12 columns"),
        ({"parameters": [7]}, "a row of parameters is not a list"),
        ({"parameter_columns": ["name"]}, "no column 'shape'"),
        ({"wrapper": 3}, "wrapper is not a text"),
        ({"optimizers": [3]}, "optimizers is not a table"),
        ({"fsdp_groups": [{"name": "x", "shards": -1}]}, "fsdp_groups is not a whole number"),
        (row(shape=[-1]), "w is not a whole number"),
        (row(shape=[2**40, 2**40]), "elements"),
        (row(shape=[1] * 99), "99 dims"),
        (row(shape=[True]), "w is not a whole number"),
        (row(coordinate=[4]), "do not belong together"),
        (row(coordinate=[]), "do not belong together"),
        (row(mesh_shape=[]), "do not belong together"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_plan_that_cannot_be_believed(change, says):
    plan = parse_plan(json.dumps({**GOOD, **change}).encode())
    assert isinstance(plan, PlanFault)
    assert says in plan.detail


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"[" * 200_000, b"1" * 9_000, b"null", b'"x"', b"NaN", b'{"parameters": 1e999}'],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_plan_at_all(data):
    assert isinstance(parse_plan(data), PlanFault)


def test_fuzzed_plans_never_raise():
    """One value in a good plan replaced by something of another kind, and what is made of it."""
    dice = random.Random(7)
    strange = (None, -1, 0, 3, 2**70, 1.5, "", "S(9)", "S(0)", "x" * 500, [], [[]], {}, True, [7], "P(sum)")
    outcomes = set()
    for _ in range(3_000):
        document = json.loads(json.dumps(GOOD))
        _replace(dice, document, strange)
        plan = parse_plan(json.dumps(document).encode())
        outcomes.add(type(plan))
        assert isinstance(predict(plan), Prediction)
    assert outcomes == {JobPlan, PlanFault}


def _replace(dice, document, strange):
    at = document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = dice.choice(keys)
        if isinstance(at[key], (dict, list)) and at[key] and dice.random() < 0.8:
            at = at[key]
            continue
        at[key] = dice.choice(strange)
        return
