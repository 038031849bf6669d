"""Real jobs under `scaletui run`, against the count that the job itself makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui_probe.layout import Event, Kind

if TYPE_CHECKING:
    from probe.workbench import Workbench

pytestmark = pytest.mark.torch

STEPS = 4
PARTS = ("weights", "gradients", "optimizer", "buffers")


@pytest.mark.parametrize(
    ("shape", "ranks", "wrapper"),
    [
        pytest.param("fsdp2", 2, "fsdp2", id="fsdp2-2-ranks-one-with-an-empty-shard"),
        pytest.param("fsdp2", 4, "fsdp2", id="fsdp2-4-ranks-three-with-empty-shards"),
        pytest.param("hsdp", 4, "fsdp2", id="hsdp-2-by-2"),
        pytest.param("mixed", 2, "fsdp2", id="fsdp2-bf16-with-fp32-shards"),
        pytest.param("tied", 2, "fsdp2", id="fsdp2-tied-embedding"),
        pytest.param("accumulate", 2, "fsdp2", id="fsdp2-gradient-accumulation"),
        pytest.param("frozen", 2, "fsdp2", id="fsdp2-frozen-embedding"),
        pytest.param("fsdp1", 2, "fsdp1", id="fsdp1-original-parameters"),
        pytest.param("ddp", 2, "ddp", id="ddp"),
    ],
)
def test_parts_equal_the_count_made_inside_the_job(
    bench: Workbench, shape: str, ranks: int, wrapper: str
) -> None:
    outcome = bench.run(bench.torchrun(ranks, "train.py", shape, str(STEPS)))
    assert outcome.code == 0, outcome.output
    assert [ring.header.rank for ring in outcome.rings] == list(range(ranks))
    for ring, count in zip(outcome.rings, bench.counts(), strict=True):
        measured = {part: ring.held(Kind.STEP, part) for part in PARTS}
        assert measured == {part: count[part] for part in PARTS}
        assert ring.last(Kind.STEP).measures.get("step") == count["step"] == STEPS
        assert ring.plan["wrapper"] == wrapper
        assert ring.last(Kind.EVENT).event is Event.EXIT
        assert ring.last(Kind.EVENT).errors == 0
