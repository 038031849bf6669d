"""Driver, allocator and categories add up, and what nobody knows is not made up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_nvml.binding import GIB, NOT_SUPPORTED, UNKNOWN, FakeGpu, FakeNvml, uuid_of
from fake_nvml.sweeper import Sweeper
from live_ranks import CPU_RANK, GPU_RANK

from scaletui_engine.live.driver.layers import layers
from scaletui_engine.live.driver.matching import Seat
from scaletui_engine.live.held import Held
from scaletui_engine.live.snapshot import Allocator

GB = 10**9
CANON = replace(
    GPU_RANK,
    now=Held(20 * GB, 10 * GB, 20 * GB, 0, 0, 2 * GB, 8 * GB),
    allocator=Allocator(58 * GB, 82 * GB, 60 * GB, 7 * GB, None, 60 * GB, 82 * GB, 0, 0),
    driver_free=44 * GB,
    driver_total=140 * GB,
)
"""pytorch#147179: active 60, reserved 82, nvidia-smi 96 GB."""


def seat(used: int, processes: dict[int, int | None], *, total: int = 140 * GB) -> Seat:
    gpu = FakeGpu(uuid_of(0), used=used, total=total, processes=processes)
    return Seat(Sweeper(FakeNvml([gpu])).sweep()[0], (CANON,))


def test_report_pytorch_147179_60_active_82_reserved_96_driver() -> None:
    found = layers([CANON], seat(96 * GB, {}))
    assert (found.active, found.reserved, found.used, found.total) == (60 * GB, 82 * GB, 96 * GB, 140 * GB)
    assert found.outside == 14 * GB
    assert found.own is found.others is None
    assert (found.inactive_split, found.free_segments) == (7 * GB, 15 * GB)
    assert found.held.total == 60 * GB


def test_with_the_processes_bytes_outside_is_the_context_and_the_others() -> None:
    found = layers([CANON], seat(96 * GB, {100: 85 * GB, 7: 10 * GB}))
    assert (found.own, found.others) == (3 * GB, 11 * GB)
    assert found.outside == found.own + found.others


@pytest.mark.parametrize("used", [90 * GB, 82 * GB, 70 * GB, 0])
@pytest.mark.parametrize("own", [90 * GB, 82 * GB, 10 * GB, None])
def test_layers_are_never_negative_and_add_up(used: int, own: int | None) -> None:
    found = layers([CANON], seat(used, {100: own}))
    assert found.outside == max(used - found.reserved, 0)
    assert found.reserved == found.active + found.inactive_split + found.free_segments
    assert found.own is None or found.own >= 0
    assert found.others is None or found.others >= 0


def test_without_nvml_the_ranks_own_question_to_cuda_counts() -> None:
    found = layers([CANON])
    assert (found.total, found.used, found.outside, found.own) == (140 * GB, 96 * GB, 14 * GB, None)


def test_two_ranks_on_one_gpu_are_added() -> None:
    gpu = FakeGpu(uuid_of(0), used=200 * GB, total=280 * GB)
    found = layers([CANON, CANON], Seat(Sweeper(FakeNvml([gpu])).sweep()[0], (CANON, CANON)))
    assert (found.reserved, found.active, found.outside) == (164 * GB, 120 * GB, 36 * GB)
    assert found.held.weights == 40 * GB
    assert found.held.total == 120 * GB


def test_a_gpu_without_ranks_is_all_others() -> None:
    found = layers([], seat(96 * GB, {7: 95 * GB}))
    assert (found.used, found.reserved, found.outside, found.held.total) == (96 * GB, 0, 96 * GB, 0)


def test_unified_memory_has_the_machines_total_and_no_driver_figure() -> None:
    gpu = FakeGpu(uuid_of(0), refused={"nvmlDeviceGetMemoryInfo": NOT_SUPPORTED})
    view = Sweeper(FakeNvml([gpu])).sweep()[0]
    found = layers([CANON], Seat(view, (CANON,)))
    assert view.host is not None
    assert (found.total, found.used, found.outside, found.shares_host) == (view.host.total, None, None, True)


def test_a_lost_gpu_has_no_driver_layer() -> None:
    gpu = FakeGpu(uuid_of(0), refused={"nvmlDeviceGetMemoryInfo": UNKNOWN})
    found = layers([CANON], Seat(Sweeper(FakeNvml([gpu])).sweep()[0], (CANON,)))
    assert (found.total, found.used, found.outside) == (None, None, None)
    assert found.reserved == 82 * GB


def test_an_allocator_without_an_account_reserves_what_is_held() -> None:
    untracked = replace(CANON, allocator=None)
    found = layers([untracked], seat(96 * GB, {}))
    assert (found.reserved, found.active, found.outside) == (60 * GB, 60 * GB, 36 * GB)


def test_what_lies_in_host_memory_is_not_on_the_device() -> None:
    offloaded = replace(CANON, on_host=Held(optimizer=20 * GB))
    assert layers([offloaded]).held.optimizer == 0
    assert layers([CPU_RANK]).held == CPU_RANK.now


def test_nothing_is_known_of_a_cpu_job() -> None:
    found = layers([CPU_RANK])
    assert (found.total, found.used, found.outside) == (None, None, None)


def test_gibibytes_are_not_gigabytes() -> None:
    assert layers([GPU_RANK]).outside == 2 * GIB
