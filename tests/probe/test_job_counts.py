"""Real jobs under `scaletui run`, against the count that the job itself makes."""

from __future__ import annotations

import glob
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from probe.workbench import Ring, Workbench

from scaletui_probe.layout import Event, Kind, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaletui_probe.record import Measures

pytestmark = pytest.mark.torch

STEPS = 4
PARTS = ("weights", "gradients", "optimizer")
GPUS = len(glob.glob("/dev/nvidia[0-9]*"))
FSDP2 = ("fsdp2", "mixed", "tied", "accumulate", "frozen", "mixed-tied-accumulate")
FSDP1 = (
    "fsdp1",
    "fsdp1-flat",
    "fsdp1-mixed",
    "fsdp1-flat-mixed",
    "fsdp1-flat-accumulate",
    "fsdp1-accumulate",
)
DDP = ("ddp", "ddp-tied", "ddp-accumulate", "ddp-views")
HSDP = ("hsdp", "hsdp-mixed", "hsdp-tied", "hsdp-accumulate")
JOBS = {
    "2 ranks": (2, "cpu", (*FSDP2, *FSDP1, *DDP)),
    "4 ranks": (4, "cpu", ("fsdp2", "mixed", "accumulate", *HSDP, "fsdp1-flat", "fsdp1", "ddp")),
    "GPUs": (min(GPUS, 4), "cuda", (*FSDP2, *DDP, *(FSDP1 if GPUS > 1 else ()), *(HSDP if GPUS > 3 else ()))),
}
"""Of HSDP's 4 ranks 2 have the same shards; a layer of one row leaves all ranks but the first of a shard
group with empty ones."""


Counted = dict[tuple[str, int], tuple[Ring, dict[str, int]]]
"""By shape and rank: the ring, and what the rank counted."""


def run(folder: Path, ranks: int, device: str, shapes: tuple[str, ...]) -> Counted:
    bench = Workbench(folder / "rings", folder)
    outcome = bench.run(bench.torchrun(ranks, "train.py", str(STEPS), *shapes), DEVICE=device)
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


def cases() -> Iterator[Any]:
    """Every shape of every job; those on GPUs where there are any."""
    for name, (ranks, device, shapes) in JOBS.items():
        marks = [pytest.mark.cuda] if device == "cuda" else []
        for shape in shapes if ranks else ():
            yield pytest.param(name, shape, id=f"{shape}-{name.replace(' ', '-')}", marks=marks)


def known(measures: Measures, part: str) -> int | Reason:
    """Bytes of a part on every device together, or why there are none."""
    names = (f"{part}_device", f"{part}_host")
    found = [value for value in map(measures.get, names) if value is not None]
    return sum(found) if found else measures.reason(names[1])


@pytest.mark.parametrize(("name", "shape"), cases())
def test_parts_equal_the_count_made_inside_the_job(
    job: Callable[[str], Counted], name: str, shape: str
) -> None:
    ranks = {rank: pair for (other, rank), pair in job(name).items() if other == shape}
    for rank, (ring, count) in ranks.items():
        measures = ring.last(Kind.STEP).measures
        assert {part: known(measures, part) for part in PARTS} == {part: count[part] for part in PARTS}
        assert measures.get("step") == count["step"] == STEPS
        if JOBS[name][1] == "cuda":
            on_device = [measures.get(f"{part}_device") or 0 for part in PARTS]
            assert (measures.get("active") or 0) >= sum(on_device) > 0
        assert (ring.header.rank, ring.header.world_size) == (rank, len(ranks))
        assert ring.last(Kind.EVENT).event is Event.EXIT
        assert ring.last(Kind.EVENT).errors == 0


WRAPPERS = {"ddp": "plain", "fsdp1": "fsdp1"}
"""Of jobs whose modules are not known; all others are of FSDP2."""


@pytest.mark.parametrize(("name", "shape"), cases())
def test_what_cannot_be_seen_is_not_available(job: Callable[[str], Counted], name: str, shape: str) -> None:
    """Buffers without modules; and FSDP1's gathered weights, when optimizers hold original parameters."""
    wrapper = shape.split("-")[0]
    for ring, count in (pair for (other, _), pair in job(name).items() if other == shape):
        measures = ring.last(Kind.STEP).measures
        is_known = wrapper not in WRAPPERS
        assert known(measures, "buffers") == (count["buffers"] if is_known else Reason.NOT_SUPPORTED)
        assert (ring.plan["buffers"] is not None) is is_known
        assert ring.plan["wrapper"] == WRAPPERS.get(wrapper, "fsdp2")
        hidden = wrapper == "fsdp1" and "flat" not in shape
        expected = Reason.NOT_SUPPORTED if hidden else 0
        last = ring.last(Kind.EVENT).measures
        for part in ("unsharded_gradients", "unsharded_weights"):
            assert known(measures, part) == known(last, part) == expected
        assert (measures.get("groups_unsharded") is None) is hidden
