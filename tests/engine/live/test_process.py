"""Whether a process is alive, and still the same one: on a made-up process table and on real processes."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import pytest

from scaletui_engine.live import watch as watch_module
from scaletui_engine.live.header import Process
from scaletui_engine.live.process import Host, Life, life_of, this_host
from scaletui_engine.live.watch import PATIENCE_NS, ProcessWatch

STAT = "{pid} ({name}) {state} 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 {start} 1 1 1"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "self").mkdir()

    def put(pid=42, name="python", state="S", start=77):
        (tmp_path / str(pid)).mkdir()
        text = STAT.format(pid=pid, name=name, state=state, start=start)
        (tmp_path / str(pid) / "stat").write_text(text)
        return Host("boot", "node", str(tmp_path))

    return put


@pytest.mark.parametrize(
    ("entry", "process", "expected"),
    [
        pytest.param({}, Process(42, 77), Life.ALIVE, id="the same"),
        pytest.param({}, Process(42, 78), Life.GONE, id="the pid is used again"),
        pytest.param({}, Process(43, 77), Life.GONE, id="no such pid"),
        pytest.param({"state": "Z"}, Process(42, 77), Life.GONE, id="zombie"),
        pytest.param({"state": "T"}, Process(42, 77), Life.STOPPED, id="halted"),
        pytest.param({"state": "t"}, Process(42, 77), Life.STOPPED, id="under a debugger"),
        pytest.param({"name": "a) R 1 (b"}, Process(42, 77), Life.ALIVE, id="a name like a table entry"),
        pytest.param({}, Process(0, 0), Life.UNKNOWN, id="no pid"),
        pytest.param({"start": "x"}, Process(42, 77), Life.UNKNOWN, id="an entry that is no number"),
    ],
)
def test_life_by_the_process_table(table, entry, process, expected):
    assert life_of(process, table(**entry)) is expected


def test_without_a_process_table_nothing_is_known(tmp_path):
    assert life_of(Process(42, 77), Host("boot", "node", str(tmp_path / "none"))) is Life.UNKNOWN


def start_ticks(pid):
    with open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


@pytest.fixture
def sleeper():
    child = subprocess.Popen([sys.executable, "-c", "import signal; print(1, flush=True); signal.pause()"],
                             stdout=subprocess.PIPE)  # fmt: skip
    assert child.stdout is not None
    child.stdout.readline()
    yield child
    child.kill()
    child.stdout.close()
    child.wait()


def test_this_process_lives():
    assert life_of(Process(os.getpid(), start_ticks(os.getpid())), this_host()) is Life.ALIVE


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda value: value.name)
def test_the_watch_sees_an_end_at_once_and_by_which_signal_where_the_kernel_tells(sleeper, number):
    process = Process(sleeper.pid, start_ticks(sleeper.pid))
    watch = ProcessWatch(this_host())
    assert watch.look(process, 0).life is Life.ALIVE
    poller = select.poll()
    for descriptor in watch.descriptors():
        poller.register(descriptor, select.POLLIN)
    os.kill(sleeper.pid, number)
    assert poller.poll(10_000)
    sleeper.wait()
    sighting = watch.look(process, 0)
    watch.close()
    assert sighting.life is Life.GONE
    assert sighting.ending.signal in (number, None)
    assert watch.descriptors() == ()


def test_a_process_that_had_ended_before_is_gone_and_nobody_knows_how(sleeper):
    process = Process(sleeper.pid, start_ticks(sleeper.pid))
    sleeper.kill()
    sleeper.wait()
    watch = ProcessWatch(this_host())
    sighting = watch.look(process, 0)
    watch.close()
    assert (sighting.life, sighting.ending.signal) == (Life.GONE, None)


def test_the_watch_forgets_what_is_not_asked_for(sleeper):
    watch = ProcessWatch(this_host())
    watch.look(Process(sleeper.pid, start_ticks(sleeper.pid)), 0)
    assert len(watch.descriptors()) == 1
    watch.forget(frozenset())
    assert watch.descriptors() == ()


def test_a_process_that_its_parent_does_not_collect_is_given_a_moment_and_no_more(sleeper):
    process = Process(sleeper.pid, start_ticks(sleeper.pid))
    watch = ProcessWatch(this_host())
    watch.look(process, 0)
    poller = select.poll()
    poller.register(watch.descriptors()[0], select.POLLIN)
    sleeper.kill()
    assert poller.poll(10_000)
    assert watch.look(process, 1).life is Life.ALIVE
    assert watch.descriptors() == ()
    assert watch.look(process, 1 + PATIENCE_NS).life is Life.GONE
    watch.close()


def test_of_many_processes_an_end_shows_at_once_and_a_halt_when_their_turn_comes(monkeypatch):
    monkeypatch.setattr(watch_module, "LOOKED_UP", 1)
    words = [sys.executable, "-c", "import signal; print(1, flush=True); signal.pause()"]
    children = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
    try:
        for child in children:
            child.stdout.readline()
        watch = ProcessWatch(this_host())
        first, second, third = (Process(child.pid, start_ticks(child.pid)) for child in children)
        sights = [look(watch, process).life for process in (first, second, third)]
        assert sights == [Life.ALIVE] * 3
        children[0].kill()
        children[0].wait()
        assert look(watch, first).life is Life.GONE
        os.kill(second.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, second.pid, os.WSTOPPED | os.WNOWAIT)
        assert Life.STOPPED in {look(watch, second).life for _ in range(2)}
        watch.close()
    finally:
        for child in children:
            child.kill()
            child.stdout.close()
            child.wait()


def look(watch, process):
    """A refresh in which one process is asked about."""
    watch.begin()
    return watch.look(process, 0)


def test_no_more_descriptors_are_held_than_asked_for_and_the_others_are_looked_up(sleeper):
    process = Process(sleeper.pid, start_ticks(sleeper.pid))
    watch = ProcessWatch(this_host(), most=0)
    assert look(watch, process).life is Life.ALIVE
    assert watch.descriptors() == ()
    sleeper.kill()
    sleeper.wait()
    assert look(watch, process).life is Life.GONE
