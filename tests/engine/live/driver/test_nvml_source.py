"""What the driver says of each GPU, and what is said where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fake_nvml.binding import (
    GIB,
    LIBRARY_NOT_FOUND,
    LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    UNKNOWN,
    FakeGpu,
    FakeNvml,
    some_gpus,
    uuid_of,
)

from scaletui_engine.live.driver.nvml_source import MET_AGAIN, NvmlSource
from scaletui_engine.live.driver.reading import (
    DriverProcess,
    DriverState,
    HostMemory,
    Lack,
    MigPlace,
    NotAvailable,
    Throttle,
)
from scaletui_engine.live.snapshot import Moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fake_nvml.sweeper import Sweeper

    from scaletui_engine.live.driver.reading import DriverView

    MakeSweeper = Callable[[FakeNvml], Sweeper]

S = 1_000_000_000
FIGURES = ("used", "total", "utilization", "power_mw", "temperature_c", "throttle", "ecc", "processes")


def test_a_gpu_as_the_driver_sees_it(sweeper: MakeSweeper, proc: Path) -> None:
    (proc / "812").mkdir()
    gpu = FakeGpu(uuid_of(3), throttle=0x4 | 0x1 | 0x40, ecc=2, processes={812: 44 * GIB, 4_000_000: None})
    (view,) = sweeper(FakeNvml([gpu])).sweep()
    assert (view.uuid, view.index, view.name) == (gpu.uuid, 0, "NVIDIA H100 80GB HBM3")
    assert view.state is DriverState.OK
    assert (view.used, view.total, view.utilization) == (48 * GIB, 80 * GIB, 97)
    assert (view.power_mw, view.power_limit_mw, view.temperature_c) == (612_000, 700_000, 67)
    assert view.throttle == (Throttle.POWER_CAP, Throttle.HARDWARE_THERMAL)
    assert view.ecc == 2
    assert view.processes == (
        DriverProcess(812, 44 * GIB, here=True),
        DriverProcess(4_000_000, NotAvailable(Lack.NOT_SUPPORTED), here=False),
    )
    assert view.age_s(Moment(3 * S, 0)) == 2.0


def test_reports_nvitop_139_and_gpustat_125_one_lost_gpu_hides_no_other(
    sweeper: MakeSweeper,
) -> None:
    nvml = FakeNvml(some_gpus(8))
    source = sweeper(nvml)
    assert all(view.state is DriverState.OK for view in source.sweep(1))
    nvml.gpus[1].refused["*"] = LOST
    for gpu in nvml.gpus:
        gpu.used += GIB
    before = nvml.calls["nvmlDeviceGetMemoryInfo"], sum(nvml.calls.values())
    views = source.sweep(5)
    lost, others = views[1], [view for view in views if view.index != 1]
    assert [view.used for view in others] == [gpu.used for gpu in nvml.gpus if gpu is not nvml.gpus[1]]
    assert {view.age_s(Moment(5 * S, 0)) for view in others} == {0.0}
    assert (lost.state, lost.uuid, lost.name) == (DriverState.LOST, uuid_of(1), "NVIDIA H100 80GB HBM3")
    assert lost.age_s(Moment(5 * S, 0)) == 4.0
    assert [getattr(lost, name) for name in FIGURES] == [NotAvailable(Lack.LOST, "GPU is lost")] * 8
    assert nvml.calls["nvmlDeviceGetMemoryInfo"] - before[0] == 8
    assert sum(nvml.calls.values()) - before[1] == 7 * 6 + 1, "a lost GPU is asked one question"


def test_a_gpu_that_is_lost_from_the_start_is_a_row_too(sweeper: MakeSweeper) -> None:
    nvml = FakeNvml(some_gpus(3))
    nvml.gpus[0].refused["*"] = LOST
    source = sweeper(nvml)
    first = source.sweep(1)
    assert [view.state for view in first] == [DriverState.LOST, DriverState.OK, DriverState.OK]
    assert (first[0].index, first[0].uuid) == (0, "")
    nvml.gpus[0].refused.clear()
    assert source.sweep(2)[0].uuid == uuid_of(0)


def test_a_gpu_that_only_fails_shows_the_drivers_words_and_nothing_old(sweeper: MakeSweeper) -> None:
    nvml = FakeNvml(some_gpus(1))
    source = sweeper(nvml)
    source.sweep(1)
    nvml.gpus[0].refused["nvmlDeviceGetMemoryInfo"] = UNKNOWN
    (view,) = source.sweep(4)
    assert view.state is DriverState.LOST
    assert view.used == NotAvailable(Lack.FAILED, "Unknown Error")
    assert view.age_s(Moment(4 * S, 0)) == 3.0


@pytest.mark.parametrize("answer", ["refused", "nothing", "the machine's"])
def test_reports_nvtop_426_and_gpustat_179_unified_memory(
    sweeper: MakeSweeper, proc: Path, answer: str
) -> None:
    gpu = FakeGpu(uuid_of(0), name="NVIDIA GB10", processes={812: 57 * GIB})
    if answer == "refused":
        gpu.refused["nvmlDeviceGetMemoryInfo"] = NOT_SUPPORTED
    gpu.total = {"refused": 80 * GIB, "nothing": 0, "the machine's": 120 * GIB}[answer]
    source = sweeper(FakeNvml([gpu]))
    for _ in range(2):
        (view,) = source.sweep()
        assert isinstance(view.used, NotAvailable)
        assert isinstance(view.total, NotAvailable)
        assert view.used.lack is view.total.lack is Lack.UNIFIED
        assert view.host == HostMemory(120 * GIB, 40 * GIB)
        assert view.state is DriverState.OK
        assert view.utilization == 97
    (proc / "meminfo").write_text("MemTotal: 125829120 kB\nMemAvailable: 1048576 kB\n")
    assert source.sweep()[0].host == HostMemory(120 * GIB, GIB)


def test_a_gpu_with_memory_of_its_own_names_no_host(sweeper: MakeSweeper) -> None:
    assert sweeper(FakeNvml(some_gpus(1))).sweep()[0].host is None


def test_a_gpu_that_tells_nothing_is_unsupported(sweeper: MakeSweeper) -> None:
    gpu = FakeGpu(uuid_of(0))
    gpu.refused = dict.fromkeys(("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetUtilizationRates"), NOT_SUPPORTED)
    assert sweeper(FakeNvml([gpu])).sweep()[0].state is DriverState.UNSUPPORTED


def test_reports_nvtop_256_and_nvitop_5_mig_instances_are_rows(sweeper: MakeSweeper) -> None:
    instances = [
        FakeGpu(uuid_of(7, "MIG"), "NVIDIA H100 MIG 3g.40gb", 30 * GIB, 40 * GIB, place=(1, 0),
                processes={812: 29 * GIB}, refused={"nvmlDeviceGetUtilizationRates": NOT_SUPPORTED}),
        FakeGpu(uuid_of(8, "MIG"), "NVIDIA H100 MIG 1g.10gb", 2 * GIB, 10 * GIB, place=(5, 0)),
    ]  # fmt: skip
    whole = FakeGpu(uuid_of(0), instances=instances, used=32 * GIB)
    first, second, other = sweeper(FakeNvml([whole, *some_gpus(2)[1:]])).sweep()
    assert (first.uuid, first.mig) == (uuid_of(7, "MIG"), MigPlace(1, 0, uuid_of(0)))
    assert (second.uuid, second.mig) == (uuid_of(8, "MIG"), MigPlace(5, 0, uuid_of(0)))
    assert (first.index, second.index, other.index) == (0, 0, 1)
    assert [(view.used, view.total) for view in (first, second)] == [
        (30 * GIB, 40 * GIB),
        (2 * GIB, 10 * GIB),
    ]
    assert first.utilization == second.utilization == NotAvailable(Lack.MIG)
    assert first.state is DriverState.OK
    assert first.temperature_c == 67, "an instance has its GPU's temperature"
    assert [process.pid for process in first.processes] == [812]
    assert other.mig is None


def test_mig_instances_that_are_cut_anew_are_found(sweeper: MakeSweeper) -> None:
    old, new = FakeGpu(uuid_of(7, "MIG"), place=(1, 0)), FakeGpu(uuid_of(9, "MIG"), place=(2, 0))
    whole = FakeGpu(uuid_of(0), instances=[old])
    source = sweeper(FakeNvml([whole]))
    source.sweep(1)
    whole.instances = [new]
    old.refused["*"] = UNKNOWN
    assert source.sweep(2)[0].state is DriverState.LOST
    assert [view.uuid for view in source.sweep(3)] == [new.uuid]
    whole.instances = [new, FakeGpu(uuid_of(10, "MIG"), place=(3, 0))]
    seen = [len(source.sweep(4 + sweep)) for sweep in range(MET_AGAIN)]
    assert seen[-1] == 2


def test_reports_gpustat_54_and_power_492_one_init_and_few_calls(sweeper: MakeSweeper) -> None:
    nvml = FakeNvml(some_gpus(8))
    source = sweeper(nvml)
    source.sweep(1)
    static = ("nvmlDeviceGetUUID", "nvmlDeviceGetName", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetMigMode")
    after_first = sum(nvml.calls.values())
    for second in range(2, 32):
        source.sweep(second)
    assert nvml.calls["nvmlInit"] == nvml.calls["nvmlDeviceGetCount"] == 1
    assert {nvml.calls[name] for name in static} == {8}
    assert nvml.calls["nvmlDeviceGetTotalEccErrors"] == 2 * 8
    assert (sum(nvml.calls.values()) - after_first) / 30 <= 8 * 7


def test_what_a_gpu_does_not_support_is_asked_once(sweeper: MakeSweeper) -> None:
    gpu = FakeGpu(uuid_of(0), refused={"nvmlDeviceGetPowerUsage": NOT_SUPPORTED})
    gpu.refused["nvmlDeviceGetComputeRunningProcesses"] = NO_PERMISSION
    nvml = FakeNvml([gpu])
    source = sweeper(nvml)
    views: list[DriverView] = [source.sweep(second)[0] for second in range(1, 6)]
    assert {view.power_mw for view in views} == {NotAvailable(Lack.NOT_SUPPORTED, "Not Supported")}
    assert views[-1].processes == NotAvailable(Lack.NO_PERMISSION, "Insufficient Permissions")
    assert nvml.calls["nvmlDeviceGetPowerUsage"] == 1
    assert nvml.calls["nvmlDeviceGetComputeRunningProcesses"] == 1


def test_an_older_driver_is_asked_by_the_older_names(sweeper: MakeSweeper) -> None:
    nvml = FakeNvml(some_gpus(1))
    nvml.gpus[0].refused["nvmlDeviceGetCurrentClocksEventReasons"] = NOT_SUPPORTED
    nvml.nvmlDeviceGetCurrentClocksThrottleReasons = lambda gpu: 0x8  # type: ignore[attr-defined]
    assert sweeper(nvml).sweep()[0].throttle == (Throttle.HARDWARE,)


def test_without_the_binding_the_reason_is_said_and_nothing_is_asked() -> None:
    def absent() -> object:
        raise ModuleNotFoundError("No module named 'pynvml'")

    update = NvmlSource(absent).poll(Moment(S, 0))
    assert (update.fault, update.over, update.drivers) == (NotAvailable(Lack.NO_BINDING), True, ())


def test_without_a_driver_the_reason_is_said() -> None:
    nvml = FakeNvml([], init_error=LIBRARY_NOT_FOUND)
    update = NvmlSource(lambda: nvml).poll(Moment(S, 0))
    assert update.fault == NotAvailable(Lack.NO_DRIVER, "NVML Shared Library Not Found")
    assert update.over


def test_a_first_sweep_says_how_far_it_is(sweeper: MakeSweeper) -> None:
    source = sweeper(FakeNvml(some_gpus(3))).source
    updates = [source.poll(Moment(S, 0)) for _ in range(4)]
    assert [update.fault for update in updates] == [
        NotAvailable(Lack.NOT_ASKED, "1/3"), NotAvailable(Lack.NOT_ASKED, "2/3"), None, None,
    ]  # fmt: skip
    assert [update.more for update in updates] == [True, True, False, True]
    assert [len(update.drivers) for update in updates] == [1, 2, 3, 3]


def test_a_machine_without_gpus_has_none(sweeper: MakeSweeper) -> None:
    update = sweeper(FakeNvml([])).update()
    assert (update.drivers, update.fault, update.more, update.over) == ((), None, False, False)


def test_a_name_cannot_steer_the_terminal(sweeper: MakeSweeper) -> None:
    gpu = FakeGpu(uuid_of(0), name="H100\x1b[2J")
    assert "\x1b" not in sweeper(FakeNvml([gpu])).sweep()[0].name
