"""PyTorch decides: what fully_shard and optimizers allocate on any rank of any mesh, against the prediction.

The plan is the probe's own, as it would travel through the ring.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scaletui_engine.live.plan_document import parse_plan
from scaletui_engine.live.predicted import Unpredicted
from scaletui_engine.live.prediction import predict

pytestmark = pytest.mark.torch

JOB = Path(__file__).parent / "jobs" / "one_rank.py"
SECOND = {"mesh": [2], "rank": 1}
CASES = {
    "one rank": {"mesh": [1], "rank": 0},
    "2 ranks, first": {"mesh": [2], "rank": 0},
    "2 ranks, second has an empty shard": SECOND,
    "3 ranks, last": {"mesh": [3], "rank": 2},
    "4 ranks, last": {"mesh": [4], "rank": 3},
    "8 ranks, last": {"mesh": [8], "rank": 7},
    "64 ranks, more than most tensors have rows": {"mesh": [64], "rank": 40},
    "hsdp 2 x 2": {"mesh": [2, 2], "rank": 3},
    "hsdp 4 x 3": {"mesh": [4, 3], "rank": 8},
    "fsdp 2 over tp 2": {"mesh": [2, 2], "rank": 3, "tp": True},
    "fsdp 3 over tp 2": {"mesh": [3, 2], "rank": 4, "tp": True},
    "tied weights": {**SECOND, "tied": True},
    "frozen embedding": {**SECOND, "frozen": True},
    "bf16 weights": {"mesh": [4], "rank": 3, "dtype": "bfloat16"},
    "bf16 compute over fp32 shards": {"mesh": [4], "rank": 3, "mixed": True},
    "resharding off": {**SECOND, "reshard": False},
    "Adam with amsgrad": {**SECOND, "optimizer": "Adam", "arguments": {"amsgrad": True}},
    "fused AdamW": {**SECOND, "arguments": {"fused": True}},
    "foreach AdamW": {**SECOND, "arguments": {"foreach": True}},
    "SGD": {**SECOND, "optimizer": "SGD", "arguments": {"lr": 0.1}},
    "momentum": {**SECOND, "optimizer": "SGD", "arguments": {"lr": 0.1, "momentum": 0.9}},
    "NAdam": {**SECOND, "optimizer": "NAdam"},
    "RAdam": {**SECOND, "optimizer": "RAdam"},
    "RMSprop": {**SECOND, "optimizer": "RMSprop", "arguments": {"momentum": 0.9, "centered": True}},
    "Adagrad": {**SECOND, "optimizer": "Adagrad"},
    "Adadelta": {**SECOND, "optimizer": "Adadelta"},
    "Adamax": {**SECOND, "optimizer": "Adamax"},
}


@pytest.fixture(scope="module")
def found() -> dict[str, dict]:
    """What PyTorch allocated, by case."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(JOB)],
        input=json.dumps(CASES),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(CASES), done.stderr
    return {line["name"]: line for line in lines}


@pytest.mark.parametrize("name", CASES)
def test_predicted_states_are_those_that_pytorch_allocates(found: dict[str, dict], name: str) -> None:
    prediction = predict(parse_plan(json.dumps(found[name]["plan"]).encode()))
    assert prediction.reason is Unpredicted.NOTHING, prediction.detail
    held = prediction.held
    assert [held.weights, held.gradients, held.optimizer] == found[name]["counted"]
