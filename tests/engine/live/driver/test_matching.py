"""A rank is on the GPU whose UUID it published, whatever anybody calls device 0."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_nvml.binding import GIB, FakeGpu, FakeNvml, some_gpus, uuid_of
from fake_nvml.numbering import MATRIX, devices_of, machine
from fake_nvml.sweeper import Sweeper
from live_ranks import GPU_RANK

from scaletui_engine.live.driver.matching import bare, process_of, seats, strangers
from scaletui_engine.live.evidence import RankState, Verdict
from scaletui_engine.live.header import Process
from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot


def rank_on(uuid: str, rank: int = 0, pid: int = 100, **fields: object) -> RankView:
    identity = replace(
        GPU_RANK.identity, rank=rank, device_uuid=uuid, device_index=rank, process=Process(pid, 1)
    )
    return replace(GPU_RANK, identity=identity, **fields)  # type: ignore[arg-type]


def seen(nvml: FakeNvml, *ranks: RankView) -> Snapshot:
    job = JobView("4f2a", 0, 0, RankState.RUNNING, len(ranks), ranks)
    return Snapshot(Moment(0, 0), (job,), (), (), Sweeper(nvml).sweep())


@pytest.mark.parametrize(("visible", "order"), MATRIX, ids=str)
def test_reports_pynvml_28_and_wandb_538_a_rank_lands_on_the_uuid_it_published(
    visible: str | None, order: str
) -> None:
    """What it publishes, where CUDA counts otherwise than NVML: tests/probe/test_reports_devices.py."""
    wanted = dict(enumerate(devices_of(visible, order)))
    ranks = [rank_on(uuid, local) for local, uuid in wanted.items()]
    found = {
        rank.identity.rank: seat.view.uuid for seat in seats(seen(machine(), *ranks)) for rank in seat.ranks
    }
    assert found == wanted


@pytest.mark.parametrize("uuid", ["", "GPU-ffffffff-0000-4000-8000-000000000000", "0"])
def test_a_rank_without_a_uuid_or_of_another_machine_is_on_no_gpu(uuid: str) -> None:
    assert not any(seat.ranks for seat in seats(seen(FakeNvml(some_gpus(2)), rank_on(uuid))))


def test_gpus_without_a_rank_have_a_seat_and_ended_ranks_none() -> None:
    ended = rank_on(uuid_of(1), 1, verdict=Verdict(RankState.EXITED))
    found = seats(seen(FakeNvml(some_gpus(3)), rank_on(uuid_of(0)), ended))
    assert [len(seat.ranks) for seat in found] == [1, 0, 0]


def test_a_mig_instance_by_its_own_uuid_in_the_form_of_pytorch() -> None:
    """torch gives 36 characters without a prefix, and the probe writes GPU- before them."""
    gpu = FakeGpu(uuid_of(0), instances=[FakeGpu(uuid_of(number, "MIG")) for number in (7, 8)])
    found = seats(seen(FakeNvml([gpu]), rank_on(uuid_of(8, "GPU"))))
    assert [len(seat.ranks) for seat in found] == [0, 1]
    assert bare("MIG-GPU-0aa1/1/0") == "mig-gpu-0aa1/1/0"


def test_a_rank_that_published_its_whole_gpu_is_on_the_instance_that_lists_it() -> None:
    instances = [
        FakeGpu(uuid_of(7, "MIG"), processes={5: GIB}),
        FakeGpu(uuid_of(8, "MIG"), processes={100: GIB}),
    ]
    gpu = FakeGpu(uuid_of(0), instances=instances)
    found = seats(seen(FakeNvml([gpu]), rank_on(gpu.uuid)))
    assert [len(seat.ranks) for seat in found] == [0, 1]
    unlisted = seats(seen(FakeNvml([gpu]), rank_on(gpu.uuid, pid=6)))
    assert [len(seat.ranks) for seat in unlisted] == [0, 0], "which instance it is nobody can tell"


def test_reports_nvitop_134_and_nvtop_149_a_pid_of_another_namespace() -> None:
    nvml = FakeNvml([FakeGpu(uuid_of(0), processes={4_000_000: 50 * GIB})])
    (seat,) = seats(seen(nvml, rank_on(uuid_of(0))))
    process = process_of(seat.ranks[0], seat)
    assert process is not None
    assert (process.pid, process.here) == (4_000_000, False)
    assert strangers(seat) == ()


def test_two_pids_of_another_namespace_are_nobodys() -> None:
    nvml = FakeNvml([FakeGpu(uuid_of(0), processes={4_000_000: GIB, 4_000_001: GIB})])
    (seat,) = seats(seen(nvml, rank_on(uuid_of(0))))
    assert process_of(seat.ranks[0], seat) is None
    assert len(strangers(seat)) == 2


def test_a_single_stranger_of_this_namespace_is_not_taken_for_the_rank() -> None:
    nvml = FakeNvml([FakeGpu(uuid_of(0), processes={1: GIB})])
    (seat,) = seats(seen(nvml, rank_on(uuid_of(0))))
    assert process_of(seat.ranks[0], seat) is None
    assert [process.pid for process in strangers(seat)] == [1]
