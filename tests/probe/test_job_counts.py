"""Real jobs under `scaletui run`, against the count that the job itself makes."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import pytest
from probe.workbench import Ring, Workbench

from scaletui_probe.layout import Event, Kind, Reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.torch

STEPS = 4
PARTS = ("weights", "gradients", "optimizer")
WRAPPERS = {"fsdp1": "fsdp1", "fsdp1-flat": "fsdp1", "ddp": "plain"}
"""Of jobs whose modules are not known; all others are of FSDP2."""
JOBS = {
    "plain": (2, ("fsdp2",)),
    "2 ranks": (2, ("mixed", "tied", "accumulate", "frozen", "fsdp1", "fsdp1-flat", "ddp")),
    "4 ranks": (4, ("fsdp2", "hsdp")),
}

UNKNOWN = (None, Reason.NOT_SUPPORTED)


Counted = dict[tuple[str, int], tuple[Ring, dict[str, int]]]
"""By shape and rank: the ring, and what the rank counted."""


def run(folder: Path, ranks: int, shapes: tuple[str, ...]) -> Counted:
    bench = Workbench(folder / "rings", folder)
    outcome = bench.run(bench.torchrun(ranks, "train.py", str(STEPS), *shapes))
    assert outcome.code == 0, outcome.output
    rings = {ring.header.pid: ring for ring in outcome.rings}
    found = {}
    for shape in shapes:
        for rank in range(ranks):
            count = json.loads((folder / f"{shape}.rank{rank}.json").read_text())
            found[shape, rank] = rings.pop(count.pop("pid")), count
    assert not rings
    return found


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Counted]:
    """Runs each job once, when it is first asked for."""
    return cache(lambda name: run(tmp_path_factory.mktemp("job"), *JOBS[name]))


def buffers_of(ring: Ring) -> tuple[int | None, Reason]:
    measures = ring.last(Kind.STEP).measures
    return measures.get("buffers_host"), measures.reason("buffers_host")


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        pytest.param("plain", "fsdp2", id="fsdp2-2-ranks-one-with-an-empty-shard"),
        pytest.param("2 ranks", "mixed", id="fsdp2-bf16-with-fp32-shards"),
        pytest.param("2 ranks", "tied", id="fsdp2-tied-embedding"),
        pytest.param("2 ranks", "accumulate", id="fsdp2-gradient-accumulation"),
        pytest.param("2 ranks", "frozen", id="fsdp2-frozen-embedding"),
        pytest.param("2 ranks", "fsdp1", id="fsdp1-original-parameters"),
        pytest.param("2 ranks", "fsdp1-flat", id="fsdp1-flat-parameters"),
        pytest.param("2 ranks", "ddp", id="ddp"),
        pytest.param("4 ranks", "fsdp2", id="fsdp2-4-ranks-three-with-empty-shards"),
        pytest.param("4 ranks", "hsdp", id="hsdp-2-by-2"),
    ],
)
def test_parts_equal_the_count_made_inside_the_job(
    job: Callable[[str], Counted], name: str, shape: str
) -> None:
    ranks = {rank: pair for (other, rank), pair in job(name).items() if other == shape}
    known = shape not in WRAPPERS
    for rank, (ring, count) in ranks.items():
        assert buffers_of(ring) == ((count["buffers"], Reason.AVAILABLE) if known else UNKNOWN)
        assert (ring.plan["buffers"] is not None) == known
        measured = {part: ring.held(Kind.STEP, part) for part in PARTS}
        assert measured == {part: count[part] for part in PARTS}
        assert ring.last(Kind.STEP).measures.get("step") == count["step"] == STEPS
        assert (ring.header.rank, ring.header.world_size) == (rank, len(ranks))
        assert ring.plan["wrapper"] == WRAPPERS.get(shape, "fsdp2")
        assert ring.last(Kind.EVENT).event is Event.EXIT
        assert ring.last(Kind.EVENT).errors == 0
