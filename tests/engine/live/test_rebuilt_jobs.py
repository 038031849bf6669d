"""Real jobs: the scenario that a viewer rebuilds is the job's, and what it predicts is what PyTorch holds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from probe.workbench import TIMEOUT_S, Workbench, read_ring

from scaletui_engine.live.header import Identity, parse_header
from scaletui_engine.live.outcome import Batch, Rebuilt, Unbuilt
from scaletui_engine.live.plan_document import JobPlan, parse_plan
from scaletui_engine.live.predicted import Unpredicted
from scaletui_engine.live.prediction import predict
from scaletui_engine.live.rebuilt import (
    axes_of,
    optimizer_of,
    precision_of,
    rebuilt,
    strategy_of,
)
from scaletui_engine.model import Arch
from scaletui_engine.plan import Axes, Strategy
from scaletui_engine.tensors import tensors

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

PREDICTED = ("weights", "gradients", "optimizer")
DEMO = Arch(layers=4, hidden=126, heads=3, kv_heads=1, head_dim=42, ffn=341, vocab=1_001)
"""The demo's own sizes, but for the heads: of 6 and 2 heads of 21 shapes tell 126 and 42 features."""


def bench_in(path: Path) -> Workbench:
    rings, out = path / "rings", path / "out"
    rings.mkdir(mode=0o700)
    out.mkdir()
    return Workbench(rings, out)


@pytest.mark.parametrize(
    ("ranks", "shapes"),
    [
        (2, ("fsdp1-flat", "fsdp1-flat-mixed", "ddp-views", "tied", "fsdp2-accumulate", "frozen")),
        (4, ("fsdp1-flat", "hsdp-mixed", "hsdp-tied", "ddp", "fsdp2-mixed-frozen")),
    ],
    ids=["2-ranks", "4-ranks"],
)
def test_predicted_states_are_those_counted_in_the_job(
    tmp_path: Path, ranks: int, shapes: tuple[str, ...]
) -> None:
    bench = bench_in(tmp_path)
    outcome = bench.run(bench.torchrun(ranks, "train.py", "3", *shapes))
    assert outcome.code == 0, outcome.output
    counts = {}
    for path in bench.out.glob("*.json"):
        count = json.loads(path.read_text())
        counts[count["pid"]] = (path.name, [count[part] for part in PREDICTED])
    assert len(counts) == ranks * len(shapes)
    for ring in outcome.rings:
        prediction = predict(parse_plan(json.dumps(ring.plan).encode()))
        name, counted = counts[ring.header.pid]
        assert prediction.reason is Unpredicted.NOTHING, (name, prediction.detail)
        assert [getattr(prediction.held, part) for part in PREDICTED] == counted, name


def test_of_original_parameters_of_fsdp1_the_optimizer_is_predicted(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    outcome = bench.run(bench.torchrun(2, "train.py", "3", "fsdp1"))
    assert outcome.code == 0, outcome.output
    counts = {count["pid"]: count for count in (json.loads(p.read_text()) for p in bench.out.glob("*.json"))}
    assert len(outcome.rings) == 2
    for ring in outcome.rings:
        prediction = predict(parse_plan(json.dumps(ring.plan).encode()))
        assert prediction.reason is Unpredicted.FLAT
        assert prediction.held.optimizer == counts[ring.header.pid]["optimizer"]


def demo(rings: Path, kind: str) -> list[JobPlan]:
    """The plans of both ranks of the demo after three steps."""
    rings.mkdir(mode=0o700)
    command = [sys.executable, "-m", "scaletui", "demo", kind, "--no-screen", "--ranks", "2", "--steps", "3"]
    done = subprocess.run(
        [*command, "--dir", str(rings)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    plans = [parse_plan(json.dumps(read_ring(path).plan).encode()) for path in sorted(rings.glob("*.ring"))]
    assert len(plans) == 2
    return [plan for plan in plans if isinstance(plan, JobPlan)]


def test_the_rebuilt_scenario_is_the_jobs(tmp_path: Path) -> None:
    plans = demo(tmp_path / "rings", "fsdp")
    for path, plan in zip(sorted((tmp_path / "rings").glob("*.ring")), plans, strict=True):
        found = rebuilt(plan, identity_of(path), Batch(4, 64), None)
        assert isinstance(found, Rebuilt), found
        scenario = found.scenario
        assert (scenario.plan.strategy, scenario.plan.axes) == (Strategy.FSDP, Axes(dp_shard=2))
        assert (scenario.plan.precision, scenario.plan.optimizer) == ("fp32", "adamw")
        assert (scenario.plan.micro_batch, scenario.plan.seq, scenario.cluster.gpus) == (4, 64, 2)
        assert [(t.shape, t.copies) for t in tensors(scenario.model.arch)] == [
            (t.shape, t.copies) for t in tensors(DEMO)
        ]
        assert found.left_over == 1, "the temperature"


def test_of_a_ddp_job_all_but_the_names_is_known(tmp_path: Path) -> None:
    plans = demo(tmp_path / "rings", "ddp")
    for path, plan in zip(sorted((tmp_path / "rings").glob("*.ring")), plans, strict=True):
        axes = axes_of(plan, 2)
        assert isinstance(axes, Axes)
        assert (axes, strategy_of(plan, axes)) == (Axes(dp_replicate=2), Strategy.DDP)
        assert (precision_of(plan), optimizer_of(plan)) == ("fp32", "adamw")
        assert rebuilt(plan, identity_of(path), Batch(4, 64), None) == Unbuilt("names")


def identity_of(path: Path) -> Identity:
    header = parse_header(path.read_bytes(), path.stat().st_size)
    assert not isinstance(header, tuple), header
    return header.identity
