"""Meshes with an axis of one rank on gloo: what torch holds and sends there is what the engine says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.model import Arch, Model
from scaletui_engine.plan import Strategy
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.notes import NO_SHARD, ONE_REPLICA, ONE_SHARD, mesh_notes
from scaletui_engine.sharding.rank_view import rank_view
from scaletui_engine.sharding.traffic.table import traffic
from scaletui_engine.validate import validate

pytestmark = pytest.mark.torch

JOB = Path(__file__).parent / "jobs" / "one_rank_axes.py"
ARCH = Arch(layers=2, hidden=16, heads=4, kv_heads=4, head_dim=4, ffn=32, vocab=64)
STRATEGIES = {"fsdp1": Strategy.FSDP1, "fsdp2": Strategy.HSDP}
KINDS = {
    "allreduce_": "all-reduce", "allgather_": "all-gather", "_allgather_base_": "all-gather",
    "_reduce_scatter_base_": "reduce-scatter",
}  # fmt: skip
NOTES = {"fsdp1 2 1": (NO_SHARD,), "fsdp1 1 2": (), "fsdp2 2 1": (ONE_SHARD,), "fsdp2 1 2": (ONE_REPLICA,)}


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What both ranks saw, case by case."""
    root = tmp_path_factory.mktemp("axes")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, str(JOB), str(rank), str(root / "store"), str(root)],
            env=environment, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    said = [rank.communicate(timeout=300)[1] for rank in started]
    assert [rank.returncode for rank in started] == [0, 0], "\n".join(said)[-3000:]
    return [json.loads((root / f"{rank}.json").read_text()) for rank in range(2)]


def scenario(case: str) -> Scenario:
    """The same mesh with a small transformer."""
    kind, replicate, shard = case.split()
    model, cluster = Model("tiny", "test", ARCH, None, "made for tests"), Cluster(load_gpu("h100-sxm"), 2)
    choices = PlanChoices(
        strategy=STRATEGIES[kind], dp_replicate=int(replicate), dp_shard=int(shard), seq=16, precision="fp32"
    )
    found = Scenario(model, cluster, plan_from(choices, model, cluster))
    validate(found)
    return found


@pytest.mark.parametrize("case", NOTES)
def test_what_ranks_hold(case: str, ranks: list[dict[str, Any]]) -> None:
    whole = sum(tensor.numel * tensor.copies for tensor in rank_view(scenario("fsdp2 2 1"), 0).rows)
    parts = {16: 1, 8: 2}[ranks[0][case]["held"]]
    assert sum(row.numel * row.copies for row in rank_view(scenario(case), 0).rows) * parts == whole


@pytest.mark.parametrize("case", NOTES)
def test_what_is_sent(case: str, ranks: list[dict[str, Any]]) -> None:
    """torch counts collectives of one rank too; the table leaves them out."""
    replicate, shard = map(int, case.split()[1:])
    kinds = {
        (KINDS[op], shard if KINDS[op] != "all-reduce" else replicate) for op in ranks[0][case]["counts"]
    }
    said = {kind for kind, size in kinds if size > 1}
    whats = ("weights_forward", "gradients", "gradient_shards")
    rows = [row for row in traffic(scenario(case)).implemented if row.call.what in whats]
    # Under NO_SHARD the reduction runs over the shard axis.
    assert {row.call.op.value for row in rows} == (set() if NO_SHARD in NOTES[case] else said)


@pytest.mark.parametrize("case", NOTES)
def test_what_the_note_says(case: str, ranks: list[dict[str, Any]]) -> None:
    """pytorch #154888: replicas under NO_SHARD keep gradients of their own; FSDP2's are the same."""
    first, second = (rank[case] for rank in ranks)
    assert mesh_notes(ARCH, scenario(case).plan) == NOTES[case]
    assert first["warned"] is (first["strategy"] == "NO_SHARD") is (NO_SHARD in NOTES[case])
    if int(case.split()[2]) == 1:
        apart = first["gradient"] != second["gradient"]
        assert apart is (NO_SHARD in NOTES[case])
