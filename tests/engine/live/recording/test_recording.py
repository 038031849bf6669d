"""What is recorded comes back, look by look and in any order; what is cut off is lost and nothing else."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from live_ranks import S
from looks import PERIOD_NS, START_NS, WALL_NS, Story, looks

from scaletui_engine.live.recording.fault import RecordingError
from scaletui_engine.live.recording.layout import MOST_CHANGES, changes_between
from scaletui_engine.live.recording.marks import MarkKind
from scaletui_engine.live.recording.reader import Recording
from scaletui_engine.live.recording.schema import CLASSES
from scaletui_engine.live.recording.writer import QUIET_NS, Recorder
from scaletui_engine.live.snapshot import Moment, Snapshot


@pytest.mark.parametrize("story", [{"ranks": 1}, {"ranks": 3, "fails_at": 20}, {"ranks": 8, "seed": 4}])
def test_every_look_comes_back_as_it_was(record, story, opened):
    path, seen = record(60, **story)
    recording = opened(path)
    assert [recording.look(number) for number in range(recording.looks)] == seen
    assert recording.damage == ""


def test_looks_come_back_in_any_order(record, opened):
    path, seen = record(MOST_CHANGES * 2 + 30)
    recording = opened(path)
    numbers = list(range(len(seen)))
    random.Random(1).shuffle(numbers)
    for number in [*numbers[:60], 0, len(seen) - 1, MOST_CHANGES, MOST_CHANGES + 1, MOST_CHANGES - 1]:
        assert recording.look(number) == seen[number]


def test_a_look_holds_an_object_of_every_class(record):
    def kinds(value):
        if isinstance(value, tuple):
            return set().union(*map(kinds, value))
        names = getattr(type(value), "__dataclass_fields__", {})
        return {type(value), *(kind for name in names for kind in kinds(getattr(value, name)))}

    _, seen = record(2, ranks=2, fails_at=1)
    without = {kind.__name__ for kind in CLASSES} - {kind.__name__ for kind in kinds(seen[-1])}
    assert without <= {"HostMemory"}


def test_an_empty_look_and_one_that_comes_and_goes(tmp_path, opened):
    path = str(tmp_path / "x.rec")
    full = next(looks(Story(2), 1))
    empty = Snapshot(Moment(1, 1), (), (), ())
    seen = [
        replace(look, moment=Moment(number + 1, number + 1))
        for number, look in enumerate([empty, full, empty, replace(full, faults=()), full, empty])
    ]
    recorder = Recorder(path)
    for look in seen:
        recorder.take(look)
    recorder.close()
    recording = opened(path)
    assert [recording.look(number) for number in range(recording.looks)] == seen


def test_time_is_counted_from_the_first_look(record, opened):
    path, seen = record(11)
    recording = opened(path)
    assert recording.duration_s == 5.0
    assert [recording.number_at(at) for at in (-1.0, 0.0, 0.49, 0.5, 4.99, 5.0, 99.0)] == [
        0, 0, 0, 1, 9, 10, 10,
    ]  # fmt: skip
    assert recording.position_s(seen[4].moment.monotonic_ns) == recording.time_s(4) == 2.0


def test_a_file_cut_anywhere_gives_every_look_before_the_cut(record, opened):
    path, seen = record(6)
    whole = path.read_bytes()
    lengths = range(0, len(whole) - 1, 7)
    counts = []
    for length in lengths:
        path.write_bytes(whole[:length])
        try:
            recording = opened(path)
        except RecordingError:
            counts.append(0)
            continue
        counts.append(recording.looks)
        assert [recording.look(number) for number in range(recording.looks)] == seen[: recording.looks]
    assert counts == sorted(counts)
    assert set(counts) == set(range(6))


def test_a_torn_last_block_is_told(record, opened):
    path, seen = record(5)
    path.write_bytes(path.read_bytes()[:-3])
    recording = opened(path)
    assert recording.looks == len(seen) - 1
    assert "cut at byte" in recording.damage


def test_it_overwrites_nothing_and_follows_no_link(record, tmp_path):
    path, _ = record(2)
    before = path.read_bytes()
    with pytest.raises(RecordingError, match="exists already"):
        Recorder(str(path))
    link, dangling = tmp_path / "link.rec", tmp_path / "dangling.rec"
    link.symlink_to(path)
    dangling.symlink_to(tmp_path / "nowhere")
    for place in (link, dangling):
        with pytest.raises(RecordingError, match="exists already"):
            Recorder(str(place))
        with pytest.raises(RecordingError, match="is a link"):
            Recording(str(place))
    assert path.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()
    assert path.stat().st_mode & 0o777 == 0o600


def test_folders_and_pipes_are_no_recordings(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(RecordingError, match="is not a file"):
            Recording(str(place))
    with pytest.raises(FileNotFoundError):
        Recording(str(tmp_path / "nothing"))


def test_looks_in_which_only_time_passes_are_rare(tmp_path):
    recorder = Recorder(str(tmp_path / "x.rec"))
    look = next(looks(Story(2), 1))
    for number in range(41):
        passed_ns = number * PERIOD_NS
        moment = Moment(look.moment.monotonic_ns + passed_ns, look.moment.wall_ns + passed_ns)
        answered = tuple(replace(source, read_ns=passed_ns) for source in look.sources)
        recorder.take(replace(look, moment=moment, sources=answered))
    recorder.close()
    assert recorder.looks == 1 + 40 * PERIOD_NS // QUIET_NS


def test_marks_say_who_fell_and_when(record, opened):
    path, seen = record(30, ranks=2, fails_at=20)
    recording = opened(path)
    found = [(mark.rank, mark.kind, mark.word) for mark in recording.marks]
    assert found == [
        (0, MarkKind.OUT_OF_MEMORY, ""),
        (0, MarkKind.EXCEPTION, "OutOfMemoryError"),
        (0, MarkKind.DEATH, "out of memory"),
        (1, MarkKind.EXCEPTION, "RuntimeError"),
        (1, MarkKind.DEATH, "lost a peer"),
    ]
    assert {mark.monotonic_ns for mark in recording.marks} == {seen[20].moment.monotonic_ns}


def test_a_new_job_and_a_new_attempt_are_marks(tmp_path, opened):
    look = next(looks(Story(1), 1))
    job = look.jobs[0]
    seen = [
        replace(look, jobs=()),
        look,
        replace(look, jobs=(replace(job, attempt=1, earlier_attempts=1),)),
    ]
    recorder = Recorder(str(tmp_path / "x.rec"))
    for number, item in enumerate(seen):
        recorder.take(replace(item, moment=Moment(number, number)))
    recorder.close()
    marks = opened(tmp_path / "x.rec").marks
    assert [(mark.rank, mark.kind) for mark in marks] == [(None, MarkKind.START), (None, MarkKind.RESTART)]


def test_very_many_ranks_keep_shorter_curves_and_fit(tmp_path, opened):
    *_, last = looks(Story(1), 260)
    (rank,) = last.jobs[0].ranks
    ranks = tuple(replace(rank, identity=replace(rank.identity, rank=number)) for number in range(600))
    recorder = Recorder(str(tmp_path / "x.rec"))
    recorder.take(replace(last, jobs=(replace(last.jobs[0], ranks=ranks),)))
    recorder.close()
    first = opened(tmp_path / "x.rec").first
    assert len(first.jobs[0].ranks) == 600
    assert {len(rank.history) for rank in first.jobs[0].ranks} == {240 * 256 // 600}
    assert changes_between(600) < MOST_CHANGES


def test_a_day_of_looks_needs_no_more_memory_than_an_hour(tmp_path):
    """A look every 2 s; what the recorder holds on to is counted, plans that come and go among it."""
    recorder, sizes = Recorder(str(tmp_path / "x.rec")), []
    (first, second), hour = tuple(looks(Story(1), 2)), 1_800
    for number in range(24 * hour):
        job = (first, second)[number % 2].jobs[0]
        if number % hour < 2:
            plan = replace(job.ranks[0].plan, step=number)
            job = replace(job, ranks=(replace(job.ranks[0], plan=plan),))
        moment = Moment(START_NS + number * 2 * S, WALL_NS + number * 2 * S)
        recorder.take(replace(first, moment=moment, jobs=(job,)))
        if number % hour == hour - 1:
            sizes.append((recorder.bytes, recorder.shared_values))
    recorder.close()
    assert recorder.looks == 24 * hour
    growth = [after[0] - before[0] for before, after in pairwise(sizes)]
    assert max(growth) < 1.1 * min(growth)
    assert max(values for _, values in sizes) == sizes[0][1]


def test_eight_ranks_take_less_than_ten_megabytes_an_hour(record):
    """Two looks a second, every figure of every rank another each time."""
    path, seen = record(400, ranks=8)
    assert path.stat().st_size / len(seen) * 7_200 < 10e6
