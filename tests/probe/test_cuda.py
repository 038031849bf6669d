"""Everything the probe asks of torch.cuda, against one that raises whatever would initialise it."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from scaletui_probe import cuda
from scaletui_probe.agent import Agent
from scaletui_probe.gauges import Gauges
from scaletui_probe.layout import Reason
from scaletui_probe.record import Measures
from scaletui_probe.settings import Settings

if TYPE_CHECKING:
    from probe.workbench import Workbench

GIB = 2**30


def pool(current: int, peak: int) -> dict[str, dict[str, int]]:
    everything = {"current": current, "peak": peak, "allocated": peak * 3, "freed": peak * 2}
    return {"all": everything, "small_pool": everything, "large_pool": everything}


STATS = {
    "allocated_bytes": pool(60 * GIB, 61 * GIB),
    "reserved_bytes": pool(82 * GIB, 83 * GIB),
    "active_bytes": pool(62 * GIB, 63 * GIB),
    "inactive_split_bytes": pool(2 * GIB, 3 * GIB),
    "requested_bytes": pool(59 * GIB, 60 * GIB),
    "allocation": pool(1000, 2000),
    "num_alloc_retries": 4,
    "num_ooms": 1,
}


class TouchyCuda:
    """A torch.cuda that has not been initialised and must not be by us: all but one question raise."""

    def is_initialized(self) -> bool:
        return False

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"torch.cuda.{name} would initialise CUDA")


class FakeCuda:
    """A torch.cuda in use, on device 3."""

    def __init__(self, backend: str = "native", driver_works: bool = True) -> None:
        self._backend = backend
        self._driver_works = driver_works
        self.peak = 61 * GIB

    def is_initialized(self) -> bool:
        return True

    def current_device(self) -> int:
        return 3

    def get_allocator_backend(self) -> str:
        return self._backend

    def get_device_properties(self, index: int) -> SimpleNamespace:
        return SimpleNamespace(uuid=f"0000-{index}", name="NVIDIA H100 PCIe")

    def memory_stats_as_nested_dict(self, index: int) -> dict[str, object]:
        assert index == 3
        return {**STATS, "allocated_bytes": pool(60 * GIB, self.peak)}

    def mem_get_info(self, index: int) -> tuple[int, int]:
        assert index == 3
        if not self._driver_works:
            raise RuntimeError("the device is gone")
        return 5 * GIB, 80 * GIB


def use(monkeypatch: pytest.MonkeyPatch, fake: object, **version: str | None) -> None:
    torch = SimpleNamespace(cuda=fake, version=SimpleNamespace(**version))
    monkeypatch.setitem(sys.modules, "torch", torch)


def reading(gauges: Gauges, stepped: bool = True) -> Measures:
    measures = Measures()
    gauges.find_device()
    gauges.ask_driver()
    gauges.read(measures, stepped)
    gauges.close()
    return measures


@pytest.mark.parametrize(
    ("version", "stepped", "reason"),
    [
        pytest.param(None, True, Reason.CPU_JOB, id="cpu-build"),
        pytest.param("13.0", True, Reason.CPU_JOB, id="cuda-build-that-trains-on-the-cpu"),
        pytest.param("13.0", False, Reason.NOT_INITIALISED, id="cuda-build-before-the-first-step"),
    ],
)
def test_cuda_is_never_initialised_by_a_question(
    monkeypatch: pytest.MonkeyPatch, version: str | None, stepped: bool, reason: Reason
) -> None:
    use(monkeypatch, TouchyCuda(), cuda=version, hip=None)
    measures = reading(Gauges(), stepped)
    for name in ("allocated", "reserved", "active", "inactive_split", "ooms", "driver_free"):
        assert (measures.get(name), measures.reason(name)) == (None, reason)
    assert cuda.device() == cuda.Device("cpu", -1, "")


def test_the_numbers_of_the_nested_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeCuda(), cuda="13.0")
    measures = reading(Gauges())
    expected = {
        "allocated": 60 * GIB,
        "reserved": 82 * GIB,
        "active": 62 * GIB,
        "inactive_split": 2 * GIB,
        "requested": 59 * GIB,
        "allocated_peak": 61 * GIB,
        "reserved_peak": 83 * GIB,
        "active_peak": 63 * GIB,
        "alloc_retries": 4,
        "ooms": 1,
        "driver_free": 5 * GIB,
        "driver_total": 80 * GIB,
    }
    assert {name: measures.get(name) for name in expected} == expected


def test_the_device_is_named_as_nvml_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeCuda(), cuda="13.0")
    assert cuda.device() == cuda.Device("cuda", 3, "GPU-0000-3", "NVIDIA H100 PCIe")


def test_a_peak_that_the_job_resets_stays_in_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeCuda()
    use(monkeypatch, fake, cuda="13.0")
    gauges = Gauges()
    reading(gauges)
    fake.peak = 60 * GIB
    measures = Measures()
    gauges.read(measures, stepped=True)
    assert measures.get("allocated_peak") == 60 * GIB
    assert measures.get("allocated_peak_seen") == 61 * GIB


def test_an_allocator_without_statistics_is_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeCuda(backend="cudaMallocAsync"), cuda="13.0")
    measures = reading(Gauges())
    assert (measures.get("allocated"), measures.reason("allocated")) == (None, Reason.NOT_TRACKED)
    assert measures.get("driver_free") == 5 * GIB


def test_one_broken_source_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeCuda(driver_works=False), cuda="13.0")
    measures = reading(Gauges())
    assert (measures.get("driver_free"), measures.reason("driver_free")) == (None, Reason.READ_FAILED)
    assert measures.get("allocated") == 60 * GIB
    assert measures.get("host_rss")


class Optimizer:
    """An optimizer without parameters."""

    param_groups: tuple[dict[str, object], ...] = ()
    state: dict[object, object] = {}  # noqa: RUF012


def test_a_whole_life_beside_an_unused_cuda_trips_nothing(
    monkeypatch: pytest.MonkeyPatch, bench: Workbench
) -> None:
    use(monkeypatch, TouchyCuda(), cuda="13.0", hip=None)
    monkeypatch.setenv("SCALETUI_DIR", str(bench.rings))
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-4]")
    agent, optimizer = Agent(Settings()), Optimizer()
    asked: list[bool] = []
    agent.tell_when_on_device(lambda: asked.append(True))
    for _ in range(3):
        agent.before_step(optimizer)
        agent.after_step(optimizer)
        agent.sample()
    agent.finish()
    agent.leave()
    (ring,) = bench.read()
    assert (agent.errors, asked) == (0, [])
    assert (ring.header.device_type, ring.header.device_uuid, ring.header.device_index) == ("cpu", "", -1)
    assert (ring.header.slurm_id, ring.header.slurm_nodes) == ("77", "n[1-4]")
