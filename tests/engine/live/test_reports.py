"""Public reports about live monitors that the engine alone answers, each a test named after its source.

    9   nvitop#106, process-exporter#358    here
    14  Megatron-Bridge#3164                test_order.py: the worst rank stands first, whichever it is
    19  dynolog#280, #286, #208             here: a viewer that was there before the job

tests/probe/test_reports.py has the table of all.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.fault import Fault
from scaletui_engine.live.header import Process
from scaletui_engine.live.process import Life, life_of, this_host
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_probe.layout import Kind
from scaletui_probe.process import start_ticks

S = 1_000_000_000
HERE = this_host()


@pytest.fixture
def rank():
    """A process that stands for a rank."""
    words = [sys.executable, "-c", "import signal; print(1, flush=True); signal.pause()"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
        child.kill()


@pytest.fixture
def ring_of(ring, renamed, make_record):
    """The bytes of a ring that a process of this machine writes; steps end so many seconds after boot."""

    def image(pid: int, ticks: int, ends_s: tuple[float, ...] = (1,)) -> bytes:
        launcher = os.getpid()
        header = renamed(
            pid=pid, pid_start_ticks=ticks, parent_pid=launcher, parent_start_ticks=start_ticks(launcher),
            boot_id=HERE.boot_id, host=HERE.name,
        )  # fmt: skip
        steps = tuple(make_record(Kind.STEP, int(end * S), step=1 + n) for n, end in enumerate(ends_s))
        return type(ring)(header=header, records=((), steps, ())).image()

    return image


class Viewer:
    """A source and a store, looked at second by second; the process table may become the test's own."""

    def __init__(self, folder, proc):
        self.proc = proc
        self.host = replace(HERE, proc=str(proc))
        proc.symlink_to("/proc")
        self.source = RingSource(str(folder), self.host)
        self.store = Store(self.host)

    def used_again(self, pid, ticks):
        """From now on that pid is another process's, and every other one is as it is."""
        self.proc.unlink()
        self.proc.mkdir()
        for name in ("self", str(os.getpid())):
            (self.proc / name).symlink_to(f"/proc/{name}")
        (self.proc / str(pid)).mkdir()
        (self.proc / str(pid) / "stat").write_text(f"{pid} (another) S " + "1 " * 18 + f"{ticks} 1")
        return self.host

    def look(self, at_s):
        moment = Moment(int(at_s * S), int(at_s * S))
        return self.store.take(self.source.poll(moment), moment)


@pytest.fixture
def viewer(folder, tmp_path):
    opened = Viewer(folder, tmp_path / "proc")
    yield opened
    opened.source.close()


def verdict(snapshot):
    ((rank,),) = (job.ranks for job in snapshot.jobs)
    return rank.verdict


def test_nvitop_106_process_exporter_358_a_killed_rank_is_exited_at_the_next_look(viewer, put, ring_of, rank):
    put(ring_of(rank.pid, start_ticks(rank.pid)))
    assert verdict(viewer.look(1)).state is RankState.RUNNING
    rank.send_signal(signal.SIGKILL)
    rank.wait()
    found = verdict(viewer.look(2))
    assert (found.state, found.what) == (RankState.EXITED, What.KILLED)


def test_nvitop_106_a_rank_that_wrote_in_its_last_moment_is_exited_within_three_seconds(
    viewer, put, ring_of, rank
):
    """A young record is a sign of life by itself, and only for as long as it is new."""
    ticks = start_ticks(rank.pid)
    put(ring_of(rank.pid, ticks))
    assert verdict(viewer.look(1)).state is RankState.RUNNING
    put(ring_of(rank.pid, ticks, ends_s=(1, 1.9)))
    rank.kill()
    rank.wait()
    states = [verdict(viewer.look(at_s)).state for at_s in (2, 2.5, 3, 3.5, 4, 4.5)]
    assert states[-1] is RankState.EXITED
    assert RankState.RUNNING not in states[states.index(RankState.EXITED) :]


def test_nvitop_106_a_rank_that_its_launcher_does_not_collect_is_exited_within_three_seconds(
    viewer, put, ring_of, rank
):
    put(ring_of(rank.pid, start_ticks(rank.pid)))
    assert verdict(viewer.look(1)).state is RankState.RUNNING
    rank.kill()
    os.waitid(os.P_PID, rank.pid, os.WEXITED | os.WNOWAIT)
    states = [verdict(viewer.look(at_s)).state for at_s in (1.5, 2, 2.5, 3, 3.5, 4)]
    assert states[-1] is RankState.EXITED


def test_nvitop_106_a_pid_that_is_used_again_while_one_looks_is_not_the_rank(viewer, put, ring_of, rank):
    """The process table has the pid, with another start; the descriptor has ended."""
    ticks = start_ticks(rank.pid)
    put(ring_of(rank.pid, ticks))
    assert verdict(viewer.look(1)).state is RankState.RUNNING
    rank.kill()
    rank.wait()
    table = viewer.used_again(rank.pid, ticks + 1)
    assert life_of(Process(rank.pid, ticks + 1), table) is Life.ALIVE
    assert [verdict(viewer.look(at_s)).state for at_s in (2, 3)] == [RankState.EXITED] * 2


def test_nvitop_106_a_pid_that_is_used_again_is_not_the_rank(viewer, put, ring_of, rank):
    put(ring_of(rank.pid, start_ticks(rank.pid) - 1))
    assert verdict(viewer.look(1)).state is RankState.EXITED


def test_dynolog_280_a_viewer_that_was_there_first_finds_the_job_when_it_comes(
    viewer, folder, put, ring_of, rank
):
    folder.rmdir()
    for at_s in (1, 2):
        (place,) = viewer.source.poll(Moment(at_s * S, at_s * S)).places
        assert (place.path, place.fault) == (str(folder), Fault.MISSING)
        assert str(folder) in place.detail
    folder.mkdir(mode=0o700)
    assert viewer.look(3).jobs == ()
    put(b"", "r00000.p1.1.ring")
    assert viewer.look(4).jobs == ()
    put(ring_of(rank.pid, start_ticks(rank.pid)))
    assert verdict(viewer.look(5)).state is RankState.RUNNING


def test_a_viewer_that_comes_after_the_end_finds_the_black_box(viewer, put, ring_of, rank):
    image = ring_of(rank.pid, start_ticks(rank.pid))
    rank.kill()
    rank.wait()
    put(image)
    shown = viewer.look(3600)
    ((found,),) = (job.ranks for job in shown.jobs)
    assert (found.verdict.state, found.step) == (RankState.EXITED, 1)


def test_a_wall_clock_that_is_set_back_between_two_looks_changes_no_age(viewer, put, ring_of, rank):
    put(ring_of(rank.pid, start_ticks(rank.pid)))
    ages = []
    for monotonic_s, wall_s in ((2, 1_000), (3, 10)):
        moment = Moment(monotonic_s * S, wall_s * S)
        shown = viewer.store.take(viewer.source.poll(moment), moment)
        ages += [rank.age_s(shown.moment) for job in shown.jobs for rank in job.ranks]
    assert ages == [1.0, 2.0]
