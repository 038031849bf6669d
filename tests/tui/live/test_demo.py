"""The demo: a real job that does what was predicted, and of which nothing is left."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from terminal.pseudo_terminal import PseudoTerminal

from scaletui.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.torch

DEMO = [sys.executable, "-m", "scaletui", "demo"]
PREDICTED = ("weights", "gradients", "optimizer")
PATIENCE_MS = 180_000
LOOK_MS = 20
OUTLIVES_MS = 5_000
"""What is left of a job may not live longer than this after its end."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


def jobs(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["live", "--once", "--json", "--dir", str(folder)]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["jobs"]
    return found


@pytest.mark.parametrize(("kind", "ranks"), [("fsdp", 4), ("ddp", 2)])
def test_a_demo_of_some_steps_does_what_was_predicted(
    folder: Path, kind: str, ranks: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*DEMO, kind, "--ranks", str(ranks), "--steps", "3", "--no-screen", "--dir", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_MS / 1000)
    assert done.returncode == 0, done.stderr
    assert f"rings in {folder}" in done.stdout
    (job,) = jobs(folder, capsys)
    assert (job["world_size"], job["step"], job["state"]) == (ranks, 3, "exited")
    for rank in job["ranks"]:
        assert rank["what"] == "finished"
        assert {name: rank["measured"][name] for name in PREDICTED} == {
            name: rank["predicted"][name] for name in PREDICTED
        }
        assert rank["measured"]["weights"] > 0
    shards = {(rank["measured"]["weights"], rank["measured"]["optimizer"]) for rank in job["ranks"]}
    assert (len(shards) > 1) == (kind == "fsdp"), "one rank alone holds the temperature's moments"


@contextmanager
def demo(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """An endless demo without a screen; and descriptors of its launcher and its ranks."""
    words = [*DEMO, "fsdp", "--no-screen", "--dir", str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    descriptors: list[int] = []
    try:
        assert process.stdout is not None
        launcher = int(process.stdout.readline().split()[1].rstrip(b","))
        descriptors = [os.pidfd_open(launcher), *(os.pidfd_open(pid) for pid in children_of(launcher, 2))]
        yield process, descriptors
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        for descriptor in descriptors:
            os.close(descriptor)


def children_of(pid: int, count: int) -> list[int]:
    """The children of a process, once there are so many."""
    for _ in range(PATIENCE_MS // LOOK_MS):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            found = [int(word) for word in file.read().split()]
        if len(found) == count:
            return found
        select.poll().poll(LOOK_MS)
    pytest.fail(f"{pid} never had {count} children")


def all_end(descriptors: list[int]) -> bool:
    """Whether every one of these processes ends in time."""
    return all(ends(descriptor) for descriptor in descriptors)


def ends(descriptor: int) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(OUTLIVES_MS))


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
    ids=lambda value: value.name,
)
def test_nothing_of_the_job_outlives_the_command(folder: Path, number: signal.Signals) -> None:
    with demo(folder) as (process, descriptors):
        process.send_signal(number)
        process.wait()
        assert all_end(descriptors)


def test_the_ranks_end_with_their_launcher(folder: Path) -> None:
    with demo(folder) as (process, (launcher, *ranks)):
        signal.pidfd_send_signal(launcher, signal.SIGKILL)
        assert all_end(ranks)
        assert process.wait() != 0


@pytest.mark.parametrize("way", ["hang-up", "SIGKILL"])
def test_traceml_orphans_nothing_of_the_job_outlives_its_screen(folder: Path, way: str) -> None:
    """A connection that is lost, and a screen that is killed."""
    with PseudoTerminal([*DEMO, "fsdp", "--dir", str(folder)]) as terminal:
        screen = terminal.process.pid
        (launcher,) = children_of(screen, 1)
        processes = [launcher, *children_of(launcher, 2)]
        descriptors = [os.pidfd_open(pid) for pid in processes]
        try:
            terminal.wait_until(lambda: len(os.listdir(folder)) == 2, "a step of every rank")
            if way == "hang-up":
                terminal.hang_up()
            else:
                terminal.process.kill()
            terminal.wait_exit()
            assert all_end(descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def test_the_job_ends_in_order_when_the_screen_is_closed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with PseudoTerminal([*DEMO, "fsdp", "--dir", str(folder)]) as terminal:
        for _ in range(PATIENCE_MS // 500):
            if "as predicted" in "".join(terminal.screen().lines):
                break
            terminal.bytes_during(0.5)
        else:
            pytest.fail("\n".join(terminal.screen().lines))
        terminal.send(b"q")
        assert terminal.wait_exit() == 0
        assert terminal.is_restored()
    (job,) = jobs(folder, capsys)
    assert {rank["state"] for rank in job["ranks"]} == {"exited"}
    assert {rank["what"] for rank in job["ranks"]} == {"finished"}
    assert [
        [rank["measured"][name] - rank["predicted"][name] for name in PREDICTED] for rank in job["ranks"]
    ] == [
        [0, 0, 0],
        [0, 0, 0],
    ]
