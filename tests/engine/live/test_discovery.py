"""Where rings are looked for, and which old ones are cleared away."""

from __future__ import annotations

import os

import pytest

from scaletui_engine.live.cleaning import clean
from scaletui_engine.live.discovery import search
from scaletui_engine.live.fault import Fault
from scaletui_engine.live.process import Host
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment

HOST = Host("boot-a", "node-a")
DAY_NS = 86_400 * 10**9


def test_only_ring_files_are_found_in_the_order_of_their_names(folder, put, ring):
    for name in ("r00001.p2.1.ring", "r00000.p1.1.ring", "notes.txt"):
        put(ring.image(), name)
    place, paths = search(str(folder))
    assert [os.path.basename(path) for path in paths] == ["r00000.p1.1.ring", "r00001.p2.1.ring"]
    assert (place.fault, place.rings) == (None, 2)


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        pytest.param(lambda path: path.rmdir(), Fault.MISSING, id="not there"),
        pytest.param(lambda path: path.chmod(0o777), Fault.FOREIGN, id="others may write in it"),
        pytest.param(lambda path: (path.rmdir(), path.write_text("")), Fault.NOT_A_FILE, id="a file"),
        pytest.param(lambda path: (path.rmdir(), path.symlink_to("/tmp")), Fault.NOT_A_FILE, id="a link"),
    ],
)
def test_a_folder_that_is_not_searched_says_why(folder, spoil, expected):
    spoil(folder)
    place, paths = search(str(folder))
    assert (paths, place.fault) == ((), expected)
    assert str(folder) in place.detail


def test_one_broken_ring_hides_no_other(folder, put, ring):
    put(ring.image(), "a.ring")
    put(b"", "b.ring")
    source = RingSource(str(folder), HOST)
    update = source.poll(Moment(0, 0))
    source.close()
    assert [os.path.basename(item.reading.path) for item in update.rings] == ["a.ring"]
    assert [fault.fault for fault in update.faults] == [Fault.EMPTY]


@pytest.fixture
def table(tmp_path):
    """A process table in which pid 4,000,001 with start time 77 lives."""
    entry = tmp_path / "proc" / "4000001"
    entry.mkdir(parents=True)
    (tmp_path / "proc" / "self").mkdir()
    entry.joinpath("stat").write_text("4000001 (python) S " + "1 " * 18 + "77 1")
    return Host("boot-a", "node-a", str(tmp_path / "proc"))


def test_cleaning_removes_old_rings_of_ended_jobs_and_nothing_else(
    folder, put, ring, renamed, table, tmp_path
):
    running = put(ring.image(), "running.ring")
    ended = type(ring)(header=renamed(pid=4_000_009)).image()
    old = put(ended, "old.ring")
    young = put(ended, "young.ring")
    broken = put(b"\0" * 9, "broken.ring")
    other = put(b"hello", "notes.txt")
    target = tmp_path / "target.ring"
    target.write_bytes(ended)
    os.symlink(target, folder / "link.ring")
    now = Moment(0, 100 * DAY_NS)
    for path, days in ((running, 90), (old, 90), (young, 99), (broken, 90), (other, 90)):
        os.utime(path, ns=(days * DAY_NS, days * DAY_NS))
    done = clean(str(folder), now, age_s=7 * 86_400.0, host=table)
    assert {os.path.basename(path) for path in done.removed} == {"old.ring", "broken.ring"}
    assert (done.running, done.young, done.foreign) == (1, 1, 1)
    assert sorted(os.listdir(folder)) == ["link.ring", "notes.txt", "running.ring", "young.ring"]
    assert target.exists()


def test_cleaning_keeps_what_was_written_in_the_future(folder, put, ring, renamed):
    path = put(type(ring)(header=renamed(pid=4_000_009)).image())
    os.utime(path, ns=(200 * DAY_NS, 200 * DAY_NS))
    assert clean(str(folder), Moment(0, 100 * DAY_NS), host=HOST).removed == ()
    assert os.path.exists(path)
