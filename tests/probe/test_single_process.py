"""Single processes under `scaletui run`: optimizers of every kind, endings, forks, torch.compile."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from probe.workbench import JOBS, Ring, Workbench

from scaletui_probe.layout import Event, Kind, Mode, Reason

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

PARTS = ("weights", "gradients", "optimizer")
UNKNOWN = ("buffers_host", "master_weights_host")
"""What cannot be told without knowing the modules."""
HOOKED = ("forward", "backward", "module_registration", "parameter_registration", "buffer_registration")
WITH_THREAD = (
    "plain",
    "two_optimizers",
    "one_per_parameter",
    "frozen",
    "closure",
    "master",
    "exception",
    "killed",
    "workers",
    "compiled",
    "compiled_forward",
    "compiled_whole",
    "full_disk",
)
WITH_HOOKS = ("plain", "workers")


@dataclass(frozen=True)
class Life:
    """What one process counted, how it ended and the rings it left."""

    counted: dict[str, Any]
    code: int
    rings: list[Ring]

    @property
    def events(self) -> list[Event]:
        return [record.event for ring in self.rings for record in ring.records[Kind.EVENT]]


@dataclass(frozen=True)
class Lives:
    """All scenarios of one command."""

    output: str
    of: dict[str, Life]


def words(out: Path, scenarios: tuple[str, ...]) -> list[str]:
    return [sys.executable, str(JOBS / "single.py"), str(out), *scenarios]


def live(folder: Path, scenarios: tuple[str, ...], *options: str) -> Lives:
    bench = Workbench(folder / "rings", folder)
    outcome = bench.run(words(folder, scenarios), *options)
    found = {}
    for name in scenarios:
        end = json.loads((folder / f"{name}.end").read_text())
        counted = folder / f"{name}.json"
        found[name] = Life(
            json.loads(counted.read_text()) if counted.exists() else {},
            end["code"],
            [ring for ring in outcome.rings if ring.header.pid == end["pid"]],
        )
    return Lives(outcome.output, found)


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    return live(tmp_path_factory.mktemp("threads"), WITH_THREAD, "--micro-batch", "4", "--seq", "7")


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    return live(tmp_path_factory.mktemp("hooks"), WITH_HOOKS, "--mode", "hooks")


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param("plain", id="adamw-and-batch-norm"),
        pytest.param("two_optimizers", id="sgd-beside-amsgrad"),
        pytest.param("one_per_parameter", id="one-optimizer-per-parameter"),
        pytest.param("frozen", id="frozen-weights-that-no-optimizer-has"),
        pytest.param("closure", id="lbfgs-with-a-closure"),
        pytest.param("master", id="single-precision-copies"),
    ],
)
def test_parts_of_what_optimizers_hold_equal_the_jobs_own_count(threads: Lives, scenario: str) -> None:
    life = threads.of[scenario]
    assert life.code == 0, threads.output
    (ring,) = life.rings
    measures = ring.last(Kind.STEP).measures
    assert {p: ring.held(Kind.STEP, p) for p in PARTS} == {p: life.counted[p] for p in PARTS}
    assert [(measures.get(p), measures.reason(p)) for p in UNKNOWN] == [(None, Reason.NOT_SUPPORTED)] * 2
    assert ring.last(Kind.STEP).measures.get("step") == life.counted["step"]
    assert ring.last(Kind.EVENT).errors == 0


@pytest.mark.parametrize("mode", ["threads", "hooks"])
def test_no_module_of_the_job_is_hooked(request: pytest.FixtureRequest, mode: str) -> None:
    hooks = request.getfixturevalue(mode).of["plain"].counted["module_hooks"]
    assert {f"_global_{kind}_hooks" for kind in HOOKED} <= set(hooks)
    assert set(hooks.values()) == {0}


def test_a_process_without_a_launcher_is_rank_0_of_1(threads: Lives) -> None:
    (ring,) = threads.of["plain"].rings
    header = ring.header
    assert (header.rank, header.world_size, header.device_type, header.mode) == (0, 1, "cpu", Mode.THREAD)
    assert (header.micro_batch, header.sequence_length) == (4, 7)
    assert "single.py" in header.command
    assert threads.of["plain"].counted["sampler"] is True


def test_a_cpu_job_has_no_figure_for_a_device(threads: Lives) -> None:
    measures = threads.of["plain"].rings[0].last(Kind.STEP).measures
    for name in ("allocated", "reserved", "active", "inactive_split", "ooms", "driver_total"):
        assert (measures.get(name), measures.reason(name)) == (None, Reason.CPU_JOB)
    assert measures.get("weights_device") is None


def test_hooks_mode_has_no_thread_and_samples_all_the_same(hooks: Lives) -> None:
    life = hooks.of["plain"]
    assert life.code == 0, hooks.output
    assert life.counted["sampler"] is False
    assert life.rings[0].header.mode is Mode.HOOKS
    assert life.rings[0].records[Kind.SAMPLE]


@pytest.mark.parametrize(
    ("scenario", "code", "events"),
    [
        pytest.param("plain", 0, [Event.START, Event.EXIT], id="in-order"),
        pytest.param("exception", 1, [Event.START, Event.EXCEPTION, Event.EXIT], id="by-an-exception"),
        pytest.param("killed", -9, [Event.START], id="by-kill-9"),
    ],
)
def test_the_ring_is_the_black_box(threads: Lives, scenario: str, code: int, events: list[Event]) -> None:
    life = threads.of[scenario]
    assert (life.code, life.events) == (code, events)
    assert life.rings[0].last(Kind.STEP).measures.get("optimizer_host")
    texts = [record.text for record in life.rings[0].records[Kind.EVENT] if record.text]
    assert texts == ["KeyError"] * (Event.EXCEPTION in events)


def test_exceptions_are_told_as_ever(threads: Lives) -> None:
    assert "KeyError: 'missing'" in threads.output
    assert "scaletui_probe" not in threads.output


def test_the_process_that_never_steps_leaves_no_ring(threads: Lives, hooks: Lives) -> None:
    assert [len(life.rings) for name, life in threads.of.items() if name != "full_disk"] == [1] * 12
    assert [len(life.rings) for life in hooks.of.values()] == [1, 1]


@pytest.mark.parametrize("mode", ["threads", "hooks"])
def test_forked_workers_leave_the_ring_alone(request: pytest.FixtureRequest, mode: str) -> None:
    lives: Lives = request.getfixturevalue(mode)
    life = lives.of["workers"]
    assert life.code == 0, lives.output
    assert life.counted["batches"] == 8
    assert life.events == [Event.START, Event.EXIT]


def test_a_full_disk_is_no_reason_to_stop(threads: Lives) -> None:
    life = threads.of["full_disk"]
    assert (life.code, life.rings) == (0, [])
    assert life.counted["weights"] > 0


COMPILED = ("compiled", "compiled_forward", "compiled_whole")


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the compiler counted without the probe."""
    place = tmp_path_factory.mktemp("without")
    environ = Workbench(place, place).environment()
    subprocess.run(words(place, COMPILED), env=environ, check=True, capture_output=True)
    return {name: json.loads((place / f"{name}.json").read_text()) for name in COMPILED}


@pytest.mark.parametrize("scenario", COMPILED)
def test_compiled_graphs_and_their_breaks_stay_the_same(
    threads: Lives, without: dict[str, dict[str, Any]], scenario: str
) -> None:
    life = threads.of[scenario]
    assert {**life.counted, "pid": 0} == {**without[scenario], "pid": 0}
    assert life.counted["graphs"] > 0
    assert life.rings[0].last(Kind.EVENT).errors == 0


def test_a_compiled_model_changes_nothing_for_an_optimizer_that_is_not(threads: Lives) -> None:
    life = threads.of["compiled_forward"]
    (ring,) = life.rings
    assert {p: ring.held(Kind.STEP, p) for p in PARTS} == {p: life.counted[p] for p in PARTS}
    assert ring.last(Kind.STEP).measures.get("step") == life.counted["step"]


@pytest.mark.parametrize(
    ("scenario", "planned"),
    [
        pytest.param("compiled", True, id="after-steps-that-were-seen"),
        pytest.param("compiled_whole", False, id="from-the-first-step-on"),
    ],
)
def test_a_compiled_step_is_unseen_and_says_so(threads: Lives, scenario: str, planned: bool) -> None:
    """torch.compile leaves the hooks of optimizers out of what it runs: nothing stale stands for the job."""
    life = threads.of[scenario]
    assert life.code == 0, threads.output
    (ring,) = life.rings
    for kind in (Kind.STEP, Kind.EVENT):
        measures = ring.last(kind).measures
        for name in ("step", *(f"{part}_host" for part in PARTS)):
            assert (measures.get(name), measures.reason(name)) == (None, Reason.COMPILED)
        assert measures.get("host_rss")
    assert life.events == [Event.START, Event.EXIT]
    assert bool(ring.plan) is planned
