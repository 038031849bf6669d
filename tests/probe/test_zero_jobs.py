"""Real DeepSpeed jobs under `scaletui run`, where a Python with DeepSpeed is to be had.

That Python is this one, or the one that DEEPSPEED_PYTHON names; `conftest.py` leaves this file out where
neither has it. What the probe reads there is also tested everywhere, on stand-ins: `test_deepspeed.py`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from probe.conftest import DEEPSPEED_PYTHON
from probe.workbench import JOBS, Workbench

from scaletui_engine.live.plan_document import parse_plan
from scaletui_engine.live.prediction import predict
from scaletui_probe.layout import Event, Kind, Reason

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

PARTS = ("weights", "gradients", "optimizer", "master_weights")
NAMES = [f"{layer}.{kind}" for kind in ("weight", "bias") for layer in range(3)]


SETTINGS = [
    *((stage, dtype, {}) for stage in (1, 2, 3) for dtype in ("bfloat16", "float32")),
    (1, "bfloat16", {"gradient_accumulation_steps": 2}),
    (2, "bfloat16", {"round_robin_gradients": True}),
    (2, "bfloat16", {"data_types": {"grad_accum_dtype": "fp32"}}),
    (2, "bfloat16", {"overlap_comm": True}),
    (3, "bfloat16", {"data_types": {"grad_accum_dtype": "fp32"}, "contiguous_gradients": False}),
]


@pytest.mark.parametrize(("stage", "dtype", "settings"), SETTINGS, ids=str)
def test_parts_equal_the_count_made_inside_the_job(
    tmp_path: Path, stage: int, dtype: str, settings: dict[str, Any]
) -> None:
    bench = Workbench(tmp_path / "rings", tmp_path)
    launcher = [DEEPSPEED_PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    outcome = bench.run(
        [*launcher, str(JOBS / "zero.py"), str(tmp_path), str(stage), dtype, json.dumps(settings)],
        DS_ACCELERATOR="cpu",
    )
    assert outcome.code == 0, outcome.output
    assert len(outcome.rings) == 2
    rings = {ring.header.pid: ring for ring in outcome.rings}
    for rank in range(2):
        count = json.loads((tmp_path / f"rank{rank}.json").read_text())
        ring = rings[count["pid"]]
        measures = ring.last(Kind.STEP).measures
        assert {part: measures.get(f"{part}_host") for part in PARTS} == {part: count[part] for part in PARTS}
        kept_whole = ring.last(Kind.EVENT).measures.get("unsharded_weights_host")
        assert kept_whole == count["unsharded_weights"]
        predicted = predict(parse_plan(json.dumps(ring.plan).encode()), ring.header)
        assert {part: getattr(predicted.held, part) for part in PARTS} == {
            part: count[part] for part in PARTS
        }
        assert measures.get("step") == count["step"]
        assert (measures.get("buffers_host"), measures.reason("buffers_host")) == (None, Reason.NOT_SUPPORTED)
        assert ring.plan["wrapper"] == "deepspeed"
        assert [row[0] for row in ring.plan["parameters"]] == NAMES
        assert ring.plan["parameters"][0][1] == [310, 170]
        assert [unit["name"] for unit in ring.plan["fsdp_groups"]] == [f"zero{stage}.0", f"zero{stage}.1"]
        assert {unit["shards"] for unit in ring.plan["fsdp_groups"]} == {2}
        assert ring.last(Kind.EVENT).errors == 0
        assert Event.EXIT in [record.event for record in ring.records[Kind.EVENT]]
