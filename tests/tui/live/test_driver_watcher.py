"""Sources in threads of their own: a driver that is slow, hangs or breaks takes nothing from the rings."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from fake_nvml.binding import LIBRARY_NOT_FOUND, LOST, FakeNvml, some_gpus, uuid_of
from live_rings import MadeUpJob

from scaletui.live.poller import Look, Polled, Poller
from scaletui.live.watcher import Watcher
from scaletui_engine.live.driver.nvml_source import NvmlSource
from scaletui_engine.live.driver.reading import DriverState, Lack, NotAvailable
from scaletui_engine.live.snapshot import Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaletui_engine.live.snapshot import Snapshot

S = 1_000_000_000
PATIENCE_S = 40.0
STATES = {"weights_host": 60, "gradients_host": 60, "optimizer_host": 124}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


class Watching:
    """A watcher that runs, and the snapshots that it has handed on."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._came = threading.Condition()
        self._newest: Snapshot | None = None
        self._over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.watcher.run(self._take, lambda: self._over)

    def _take(self, snapshot: Snapshot) -> None:
        with self._came:
            self._newest = snapshot
            self._came.notify_all()

    def until(self, condition: Callable[[Snapshot], bool]) -> Snapshot:
        """The first snapshot of which something is true."""
        with self._came:
            found = self._came.wait_for(
                lambda: self._newest is not None and condition(self._newest), PATIENCE_S
            )
            assert found, f"never came true: {self._newest}"
            assert self._newest is not None
            return self._newest

    def leave(self) -> None:
        """Let the run end, and wait for that."""
        self._over = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def end(self) -> None:
        """Close the watcher too."""
        self.watcher.close()
        self.leave()


@pytest.fixture
def watch(folder: Path) -> Iterator[Callable[[FakeNvml], Watching]]:
    """Watches the folder and a made-up driver."""
    started: list[Watching] = []
    drivers: list[FakeNvml] = []

    def start(nvml: FakeNvml) -> Watching:
        drivers.append(nvml)
        started.append(Watching(Watcher(str(folder), 0.1, NvmlSource(lambda: nvml))))
        return started[-1]

    yield start
    for watching in started:
        watching.end()
    for nvml in drivers:
        nvml.goes_on.set()


def step_of(snapshot: Snapshot) -> int | None:
    return snapshot.jobs[0].step if snapshot.jobs else None


def fault_of(snapshot: Snapshot, name: str) -> NotAvailable | None:
    return next(source.fault for source in snapshot.sources if source.name == name)


def test_rings_and_gpus_are_one_picture(watch: Callable[[FakeNvml], Watching], folder: Path) -> None:
    with MadeUpJob(folder) as job:
        job.step(3, **STATES)
        snapshot = watch(FakeNvml(some_gpus(8))).until(lambda seen: len(seen.drivers) == 8)
    assert step_of(snapshot) == 3
    assert [source.name for source in snapshot.sources] == ["rings", "NVML"]


def test_report_nvtop_139_a_driver_that_hangs_for_ever_stops_no_ring(
    watch: Callable[[FakeNvml], Watching], folder: Path
) -> None:
    nvml = FakeNvml(some_gpus(2))
    nvml.stops.set()
    with MadeUpJob(folder) as job:
        watching = watch(nvml)
        assert nvml.waits.wait(PATIENCE_S)
        for step in (1, 2, 3):
            job.step(step, **STATES)
            assert watching.until(lambda seen, step=step: step_of(seen) == step).drivers == ()
    assert not nvml.goes_on.is_set(), "every step was seen while the driver hung"


def test_a_driver_that_begins_to_hang_keeps_its_figures_with_their_age(
    watch: Callable[[FakeNvml], Watching],
) -> None:
    nvml = FakeNvml(some_gpus(2))
    watching = watch(nvml)
    before = watching.until(lambda seen: len(seen.drivers) == 2)
    nvml.stops.set()
    assert nvml.waits.wait(PATIENCE_S)
    after = watching.until(lambda seen: seen.moment.monotonic_ns > before.moment.monotonic_ns)
    nvml_status = after.sources[1]
    assert nvml_status.read_ns is not None
    assert nvml_status.read_ns >= max(view.read_ns for view in before.drivers)
    later = Moment(after.moment.monotonic_ns + 60 * S, 0)
    assert all(view.age_s(later) > 60 for view in after.drivers)
    assert nvml_status.age_s(later) > 60


def test_a_driver_that_dies_is_told_and_the_rings_go_on(
    watch: Callable[[FakeNvml], Watching], folder: Path
) -> None:
    nvml = FakeNvml([*some_gpus(1), None])  # type: ignore[list-item]
    with MadeUpJob(folder) as job:
        watching = watch(nvml)
        fault = fault_of(watching.until(lambda seen: fault_of(seen, "NVML") is not None), "NVML")
        assert fault is not None
        job.step(7, **STATES)
        snapshot = watching.until(lambda seen: step_of(seen) == 7)
    assert fault_of(snapshot, "rings") is None
    died = watching.until(lambda seen: getattr(fault_of(seen, "NVML"), "lack", None) is Lack.DIED)
    assert fault_of(died, "NVML").detail.startswith("AttributeError")  # type: ignore[union-attr]
    assert [view.uuid for view in died.drivers] == [uuid_of(0)], "what it said before has its age"


def test_no_driver_is_a_reason_and_is_asked_once(watch: Callable[[FakeNvml], Watching], folder: Path) -> None:
    nvml = FakeNvml([], init_error=LIBRARY_NOT_FOUND)
    with MadeUpJob(folder) as job:
        watching = watch(nvml)
        for step in (1, 2):
            job.step(step, **STATES)
            snapshot = watching.until(lambda seen, step=step: step_of(seen) == step)
    assert fault_of(snapshot, "NVML") == NotAvailable(Lack.NO_DRIVER, "NVML Shared Library Not Found")
    assert nvml.calls == {"nvmlInit": 1}


def test_one_init_though_the_screen_is_left_and_opened_again(folder: Path) -> None:
    nvml = FakeNvml(some_gpus(2))
    watcher = Watcher(str(folder), 0.1, NvmlSource(lambda: nvml))
    for _ in range(3):
        seen: list[Snapshot] = []
        watcher.run(seen.append, lambda seen=seen: bool(seen) and len(seen[-1].drivers) == 2)
        assert len(seen[-1].drivers) == 2
    watcher.close()
    assert nvml.calls["nvmlInit"] == 1


def test_a_run_that_ends_late_stops_none_that_has_begun(folder: Path) -> None:
    """A screen that is left and opened again begins to watch before its first run has ended."""
    nvml = FakeNvml(some_gpus(1))
    watcher = Watcher(str(folder), 0.1, NvmlSource(lambda: nvml))
    with MadeUpJob(folder) as job:
        first, second = Watching(watcher), Watching(watcher)
        for watching in (first, second):
            watching.until(lambda seen: len(seen.jobs) == 1)
        first.leave()
        job.step(5, **STATES)
        assert step_of(second.until(lambda seen: step_of(seen) == 5)) == 5
        second.end()


def test_a_lost_gpu_in_mid_run_is_told_while_the_others_go_on(watch: Callable[[FakeNvml], Watching]) -> None:
    nvml = FakeNvml(some_gpus(8))
    watching = watch(nvml)
    watching.until(lambda seen: len(seen.drivers) == 8)
    nvml.gpus[1].refused["*"] = LOST
    lost = watching.until(lambda seen: seen.drivers[1].state is DriverState.LOST)
    assert {view.state for view in lost.drivers if view.index != 1} == {DriverState.OK}
    nvml.gpus[2].utilization = 3
    assert watching.until(lambda seen: seen.drivers[2].utilization == 3).drivers[1].state is DriverState.LOST


def test_a_single_look_has_rings_and_gpus(folder: Path) -> None:
    nvml = FakeNvml(some_gpus(3))
    watcher = Watcher(str(folder), driver=NvmlSource(lambda: nvml))
    snapshot = watcher.look()
    watcher.close()
    assert len(snapshot.drivers) == 3
    assert [place.path for place in snapshot.places] == [str(folder)]


def polled(look: Callable[[Moment], Look[int]]) -> Polled[int]:
    return Polled("made up", look, tuple, lambda: None, 0.01, 2.0)


def test_a_late_answer_is_a_fault_after_the_deadline_and_not_before() -> None:
    asked, goes_on, told = threading.Event(), threading.Event(), threading.Event()

    def look(moment: Moment) -> Look[int]:
        asked.set()
        goes_on.wait()
        return Look(moment.monotonic_ns, over=True)

    poller = Poller(polled(look), lambda is_urgent: told.set())
    assert poller.status(Moment(0, 0)).fault is None
    poller.resume()
    assert asked.wait(PATIENCE_S)
    start = poller.asked_ns
    assert start is not None
    assert poller.status(Moment(start + S, 0)).fault is None
    assert poller.status(Moment(start + 3 * S, 0)).fault == NotAvailable(Lack.NO_ANSWER)
    goes_on.set()
    assert told.wait(PATIENCE_S)
    assert poller.value == start
    assert poller.status(Moment(start + 3 * S, 0)).fault is None


def test_first_answers_and_new_faults_are_urgent() -> None:
    looks = iter(
        [Look(1, more=True), Look(2), Look(3), Look(4, NotAvailable(Lack.FAILED)), Look(5, over=True)]
    )
    told: list[bool] = []
    over = threading.Event()

    def tell(is_urgent: bool) -> None:
        told.append(is_urgent)
        if len(told) == 5:
            over.set()

    poller = Poller(polled(lambda moment: next(looks)), tell)
    poller.resume()
    assert over.wait(PATIENCE_S)
    assert told == [False, True, False, True, True]


def test_closing_waits_for_nobody_and_closes_the_source_once() -> None:
    closed: list[str] = []
    asked, goes_on = threading.Event(), threading.Event()

    def look(moment: Moment) -> Look[int]:
        asked.set()
        goes_on.wait()
        return Look(0)

    ended = threading.Event()

    def close() -> None:
        closed.append("source")
        ended.set()

    poller = Poller(Polled("made up", look, tuple, close, 0.01, 2.0), lambda is_urgent: None)
    poller.resume()
    assert asked.wait(PATIENCE_S)
    poller.close()
    poller.close()
    assert closed == [], "its thread is still in the source"
    goes_on.set()
    assert ended.wait(PATIENCE_S)
    assert closed == ["source"]


def test_a_source_that_was_never_asked_is_closed_at_once() -> None:
    closed: list[str] = []
    poller = Poller(
        Polled("made up", lambda moment: Look(0), tuple, lambda: closed.append("source"), 1.0, 1.0),
        lambda is_urgent: None,
    )
    poller.close()
    assert closed == ["source"]
