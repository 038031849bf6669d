"""The JSON of GPUs and sources: figures, and reasons where there are none."""

from __future__ import annotations

import json
from dataclasses import replace

from fake_nvml.binding import GIB, LOST, NOT_SUPPORTED, FakeGpu, FakeNvml, some_gpus, uuid_of
from fake_nvml.sweeper import Sweeper
from live_ranks import GPU_RANK

from scaletui_engine.live.contract import contract
from scaletui_engine.live.driver.reading import Lack, NotAvailable, SourceStatus
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot

S = 1_000_000_000


def printed(nvml: FakeNvml, *ranks: RankView, sources: tuple[SourceStatus, ...] = ()) -> dict[str, object]:
    jobs = (JobView("4f2a", 0, 0, RankState.RUNNING, len(ranks), ranks),) if ranks else ()
    snapshot = Snapshot(Moment(3 * S, 0), jobs, (), (), Sweeper(nvml).sweep(), sources)
    return json.loads(json.dumps(contract(snapshot), allow_nan=False))


def test_a_gpu_with_its_rank_and_its_layers() -> None:
    rank = replace(GPU_RANK, identity=replace(GPU_RANK.identity, device_uuid=uuid_of(0)))
    nvml = FakeNvml([FakeGpu(uuid_of(0), used=55 * GIB, processes={100: 51 * GIB, 4_000_000: GIB})])
    (found,) = printed(nvml, rank)["drivers"]
    assert found["ranks"] == [{"job": "4f2a", "rank": 0}]
    assert (found["uuid"], found["index"], found["state"], found["age_s"]) == (uuid_of(0), 0, "ok", 2.0)
    assert (found["used"], found["total"], found["power_w"]) == (55 * GIB, 80 * GIB, 612.0)
    assert found["not_available"] == {}
    assert found["processes"] == [
        {
            "pid": 100,
            "used": 51 * GIB,
            "in_this_namespace": found["processes"][0]["in_this_namespace"],
            "rank": 0,
        },
        {"pid": 4_000_000, "used": GIB, "in_this_namespace": False, "rank": None},
    ]
    layers = found["layers"]
    assert (layers["used"], layers["reserved"], layers["outside"]) == (55 * GIB, 50 * GIB, 5 * GIB)
    assert (layers["outside_own"], layers["outside_others"]) == (GIB, 4 * GIB)
    assert layers["reserved"] == layers["active"] + layers["inactive_split"] + layers["free_segments"]


def test_what_is_null_has_its_reason() -> None:
    lost, unified = FakeGpu(uuid_of(0), refused={"*": LOST}), FakeGpu(uuid_of(1))
    unified.refused["nvmlDeviceGetMemoryInfo"] = NOT_SUPPORTED
    first, second = printed(FakeNvml([lost, unified]))["drivers"]
    assert (first["state"], first["used"], first["uuid"]) == ("lost", None, None)
    assert first["not_available"]["used"] == "not available: the GPU is lost (GPU is lost)"
    assert second["not_available"] == dict.fromkeys(
        ("used", "total"), "not available: unified memory (Not Supported)"
    )
    assert second["unified_host"]["total"] > second["unified_host"]["available"] > 0


def test_a_mig_instance_names_its_place() -> None:
    gpu = FakeGpu(uuid_of(0), instances=[FakeGpu(uuid_of(7, "MIG"), place=(5, 1))])
    (found,) = printed(FakeNvml([gpu]))["drivers"]
    assert found["mig"] == {"gpu_instance": 5, "compute_instance": 1, "gpu_uuid": uuid_of(0)}
    assert found["not_available"] == {"utilization_percent": "not available: not offered for MIG instances"}


def test_sources_with_age_and_fault() -> None:
    sources = (SourceStatus("rings", 2 * S), SourceStatus("NVML", None, NotAvailable(Lack.NO_BINDING)))
    assert printed(FakeNvml([]), sources=sources)["sources"] == [
        {"name": "rings", "age_s": 1.0, "fault": None},
        {"name": "NVML", "age_s": None, "fault": "not available: nvidia-ml-py is not installed"},
    ]


def test_seventy_two_gpus_are_all_there() -> None:
    assert len(printed(FakeNvml(some_gpus(72)))["drivers"]) == 72
