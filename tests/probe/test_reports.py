"""Public reports about live monitors, each a test named after its source.

    1   nvitop#134, nvtop#149               engine/live/driver: test_matching.py, test_real_binding.py;
                                            tui/live: test_driver_views.py, test_reports_terminal.py
    2   nvitop#139, gpustat#125             driver/test_nvml_source.py, test_real_binding.py;
                                            tui/live/test_driver_watcher.py
    3   nvtop#426, gpustat#179              driver/test_nvml_source.py, test_real_binding.py;
                                            tui/live/test_driver_views.py
    4   gpustat#54, netdata#14522           driver/test_nvml_source.py; test_driver_terminal.py,
                                            test_reports_terminal.py; what it costs: bench/live_viewers.py
    5   nvtop#365, nvitop#17, #63, #65      test_reports_views.py, test_driver_terminal.py
    6   nvtop#139                           test_driver_terminal.py, test_driver_watcher.py; in
                                            milliseconds: bench/live_viewers.py
    7   pynvml#28, wandb#538, monarch#4628  test_reports_devices.py, driver/test_matching.py
    8   nvtop#256, nvitop#5                 driver/test_nvml_source.py, test_matching.py; test_driver_views.py
    9   nvitop#106, process-exporter#358    engine/live/test_reports.py; tui/live: test_ends.py,
                                            test_reports_views.py
    10  Lightning#189, mlperf-common#23     bench/probe_cost.py: times belong to no test
    14  Megatron-Bridge#3164                engine/live/test_order.py: the worst rank first
    15  pytorch#153571                      here
    16  memray#846, #925, #668, #443, #723  here: nothing attaches; each target gets its one-line reason
    17  py-spy#12, #8, #68; debugpy#578     here
    18  cpython#143511                      here: no script is sent into a process
    19  dynolog#280, #286, #208             here, and engine/live/test_reports.py
    22  pytorch#147179                      driver/test_layers.py; test_driver_views.py
    23  tmux#2901, #4610; gpustat#100       tui/live: test_reports_terminal.py, test_live_terminal.py;
                                            terminal/test_app_bytes.py
    24  btop#1707, #851                     test_driver_terminal.py, test_driver_views.py
    25  pytorch#138957, atop#345            test_reports_jobs.py; DataLoader's workers: test_single_process.py
    26  pytorch#149502, #117584             test_single_process.py: graphs and breaks; test_reports_jobs.py
    28  ComfyUI-KJNodes#734                 tui/live/test_reports_files.py: nothing unpickles
    29  wandb#10464, #5202                  test_reports_jobs.py: bytes of the rank, none of its workers;
                                            test_reports_views.py: shares beside bytes
    30  traceml's orphans                   test_reports_jobs.py; tui/live/test_demo.py
    31  hypno on FSDP2 ranks                test_reports_jobs.py

Numbers 11, 12 and 13 are of allocator snapshots, 20, 21 and 27 of several nodes: the live mode reads neither.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from probe.sources import sources_with

from scaletui.cli import main
from scaletui.commands import probe, probe_process
from scaletui.commands.probe_process import why_no_ring
from scaletui_probe.agent import Agent
from scaletui_probe.layout import Mode
from scaletui_probe.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe.workbench import Workbench

# 15


class RecordingCore:
    """torch._C of a CUDA build, in which memory history must never be touched."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def _cuda_attach_out_of_memory_observer(self, _observer: object) -> None:
        self.asked.append("observer")

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"torch._C.{name}")


class Cuda:
    """torch.cuda in use."""

    def is_initialized(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def get_device_properties(self, _index: int) -> SimpleNamespace:
        return SimpleNamespace(uuid="GPU-0")

    def memory_stats_as_nested_dict(self, _index: int) -> dict[str, Any]:
        return {"allocated_bytes": {"all": {"current": 7, "peak": 9}}}

    def mem_get_info(self, _index: int) -> tuple[int, int]:
        return 1, 2

    def __getattr__(self, name: str) -> object:
        if name in ("get_allocator_backend", "is_current_stream_capturing"):
            raise AttributeError(name)
        raise AssertionError(f"torch.cuda.{name}")


class Optimizer:
    """An optimizer without parameters."""

    param_groups: tuple[dict[str, Any], ...] = ()
    state: dict[Any, Any] = {}  # noqa: RUF012


def test_pytorch_153571_memory_history_is_neither_switched_on_nor_off(
    monkeypatch: pytest.MonkeyPatch, bench: Workbench
) -> None:
    from scaletui_probe.lifecycle import watch_out_of_memory

    core = RecordingCore()
    torch = SimpleNamespace(cuda=Cuda(), _C=core, version=SimpleNamespace(cuda="13.0", hip=None))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("SCALETUI_DIR", str(bench.rings))
    agent, optimizer = Agent(Settings(mode=Mode.HOOKS)), Optimizer()
    agent.tell_when_on_device(lambda: watch_out_of_memory(agent))
    for _ in range(3):
        agent.before_step(optimizer)
        agent.after_step(optimizer)
        agent.sample()
    agent.finish()
    agent.leave()
    assert (core.asked, agent.errors) == (["observer"], 0)
    assert sources_with(r"_record_memory_history|_cuda_record_memory") == []
    assert sources_with(r"reset_peak|empty_cache\(|memory_snapshot\(") == []


# 16, 17, 18


def status(pid: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is said of a process without a ring, by both commands that take one."""
    where = ["--pid", str(pid), "--dir", str(folder)]
    assert main(["probe", "status", *where]) == main(["live", "--once", *where]) == probe.NO_RING
    lines = capsys.readouterr().out.splitlines()
    said = lines[: len(lines) // 2]
    assert lines == said * 2
    return said


@contextmanager
def target(*words: str, **options: int) -> Iterator[int]:
    """A process that says when it is there, and that must still be there at the end, not halted."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.pid
            assert process.poll() is None
            with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
                assert file.read().rpartition(")")[2].split()[0] in "SR"
        finally:
            process.kill()


def ended() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
        return process.pid


PYTHON = (sys.executable, "-c", "import signal; print(1, flush=True); signal.pause()")
SHELL = ("sh", "-c", "echo 1; read line")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(PYTHON, "it is a Python that was started without the probe", id="python-without-agent"),
        pytest.param((*SHELL,), "not Python", id="not-python"),
    ],
)
def test_memray_846_925_668_a_process_without_a_ring_gets_a_reason_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    with target(*words) as pid:
        lines = status(pid, tmp_path, capsys)
    assert reason in lines[1]
    assert list(tmp_path.iterdir()) == []


def test_memray_443_a_process_that_has_ended_is_said_to_be_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = ended()
    assert status(pid, tmp_path, capsys)[1] == f"there is no process {pid} here"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A process table with process 42 in another container."""
    for name, files in (("self", "mnt:[1]"), ("42", "mnt:[2]")):
        (tmp_path / name / "ns").mkdir(parents=True)
        (tmp_path / name / "ns" / "mnt").symlink_to(files)
    return tmp_path


def test_memray_846_a_process_in_another_container_is_said_to_be_there(table: Path) -> None:
    assert why_no_ring(42, str(table)) == (
        "it lives in another container: share the folder of the rings with it"
    )


def test_memray_723_a_process_of_another_user_is_said_to_be_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Root has a process of another user; who is not root has process 1, which is root's."""
    own, other = os.geteuid(), 65_534 if os.geteuid() == 0 else 0
    if own:
        assert status(1, tmp_path, capsys)[1] == f"it belongs to user {other}, not to {own}"
        return
    with target(*SHELL, user=other) as pid:
        assert status(pid, tmp_path, capsys)[1] == f"it belongs to user {other}, not to {own}"


@pytest.mark.parametrize("scope", ["0", "2", None])
def test_py_spy_12_the_right_that_is_missing_is_named_with_a_way_that_needs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, scope: str | None
) -> None:
    """With what the system says of tracing; a kernel without Yama says nothing."""
    place = tmp_path / "ptrace_scope"
    if scope is not None:
        place.write_text(f"{scope}\n")
    monkeypatch.setattr(probe_process, "PTRACE_SCOPE", str(place))
    lines = status(os.getpid(), tmp_path, capsys)
    assert "start the job again with: scaletui run -- CMD" in lines
    assert f"CAP_SYS_PTRACE for it (ptrace_scope is {scope or '?'}); scaletui needs none" in lines[-1]


def test_py_spy_12_the_value_is_the_kernels() -> None:
    assert probe_process.PTRACE_SCOPE == "/proc/sys/kernel/yama/ptrace_scope"


def test_cpython_143511_no_script_is_sent_into_a_process() -> None:
    assert sources_with(r"remote_exec|process_vm_writev|PTRACE_ATTACH|\bgdb\b|pyinjector|\bhypno\b") == []


# 19


@pytest.mark.parametrize(
    ("option", "found"),
    [
        pytest.param([], "variable: No such file or directory", id="the-variable-names-it"),
        pytest.param(["--dir", "option"], "option: 0 rings", id="the-option-names-it"),
    ],
)
def test_dynolog_280_nothing_found_says_where_it_looked_and_how_to_start(
    tmp_path: Path, option: list[str], found: str
) -> None:
    (tmp_path / "option").mkdir(mode=0o700)
    words = [sys.executable, "-m", "scaletui", "live", "--once", *option]
    environ = {**os.environ, "SCALETUI_DIR": str(tmp_path / "variable"), "COLUMNS": "200"}
    done = subprocess.run(words, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    for expected in (f"{tmp_path}/{found}", "NVML:", "$SCALETUI_DIR", "scaletui run -- "):
        assert expected in done.stdout
    assert done.stderr == ""
