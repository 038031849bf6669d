"""What the store makes of readings: newest values, jobs and attempts, and a memory that does not grow."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest
from live_rings import MadeUpJob

from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.header import parse_header
from scaletui_engine.live.held import held
from scaletui_engine.live.history import RECENT, STEPS, History, Point, packed, unpacked
from scaletui_engine.live.process import Host, Life
from scaletui_engine.live.record import parse_record
from scaletui_engine.live.ring import RingReading
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.source import RingUpdate, SourceUpdate
from scaletui_engine.live.store import Store
from scaletui_engine.live.watch import Sighting
from scaletui_probe.layout import Kind, Reason
from scaletui_probe.record import encode

S = 1_000_000_000
HOST = Host("boot-a", "node-a")
ALIVE, GONE = Sighting(Life.ALIVE), Sighting(Life.GONE)


@pytest.fixture
def update(ring, renamed):
    """`update(rank, samples=..., steps=..., alive=..., header fields)`: what a poll brings of one rank."""

    def make(rank=0, samples=(), steps=(), events=(), sighting=ALIVE, **fields):
        image = type(ring)(header=renamed(rank=rank, **fields)).image()
        header = parse_header(image, len(image))
        path = f"{fields.get('job_id', 'job-1')}.{fields.get('attempt', 0)}.r{rank}.{fields.get('pid', 1)}"
        reading = RingReading(path, header, None, 0, read(samples), read(steps), read(events))
        return RingUpdate(reading, sighting, ALIVE)

    return make


def read(records):
    return tuple(parse_record(encode(record, 2 * (write + 1))) for write, record in enumerate(records))


def take(store, *updates, at_s=10.0):
    moment = Moment(int(at_s * S), int((1_000 + at_s) * S))
    return store.take(SourceUpdate(tuple(updates), (), ()), moment)


def test_the_newest_of_everything_is_kept(update, make_record):
    store = Store(HOST)
    step = make_record(Kind.STEP, 9 * S, step=7, step_ns=400, counted_at_step=5, weights_host=100)
    take(store, update(steps=(step,), samples=(make_record(at_ns=9 * S, step=7, host_rss=1),)))
    shown = take(store, update(samples=(make_record(at_ns=int(9.5 * S), step=7, host_rss=2),)))
    (rank,) = shown.jobs[0].ranks
    assert (rank.step, rank.step_ns, rank.host_rss) == (7, None, 2)
    assert (rank.measured_at_step, rank.measured.weights) == (5, 100)
    assert rank.age_s(shown.moment) == pytest.approx(0.5, abs=1e-9)


def test_nothing_new_gives_the_same_view(update, make_record):
    store = Store(HOST)
    first = take(store, update(samples=(make_record(at_ns=9 * S, step=1),)))
    second = take(store, update(), at_s=11.0)
    assert second.jobs[0].ranks[0] is first.jobs[0].ranks[0]


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        pytest.param({"weights_host": 3, "optimizer_host": 4}, (3, None, 4, None), id="cpu job"),
        pytest.param(
            {
                "weights_device": 3,
                "weights_host": 0,
                "optimizer_device": 4,
                "optimizer_host": 1,
                "active": 100,
            },
            (3, None, 5, 93),
            id="rest is what the allocator holds beyond the categories on the device",
        ),
        pytest.param({"weights_device": 90, "active": 80}, (90, None, None, 0), id="a race is not negative"),
        pytest.param({}, (None, None, None, None), id="nothing counted is not nought"),
    ],
)
def test_categories(make_record, measures, expected):
    found = held(read((make_record(**measures),))[0])
    assert (found.weights, found.gradients, found.optimizer, found.rest) == expected


def test_jobs_of_one_folder_are_told_apart_and_running_ones_come_first(update, make_record):
    store = Store(HOST)
    shown = take(
        store,
        update(0, job_id="old", created_wall_ns=5, sighting=GONE, samples=(make_record(at_ns=S),)),
        update(0, job_id="a", created_wall_ns=7),
        update(1, job_id="a", created_wall_ns=7),
        update(0, job_id="b", created_wall_ns=9),
    )
    assert [(job.id, job.state) for job in shown.jobs] == [
        ("b", RankState.RUNNING),
        ("a", RankState.RUNNING),
        ("old", RankState.EXITED),
    ]
    assert [rank.identity.rank for rank in shown.jobs[1].ranks] == [0, 1]


def test_a_restart_is_a_new_attempt_of_the_same_job(update):
    store = Store(HOST)
    shown = take(
        store, update(0, sighting=GONE, pid=5), update(0, attempt=1, pid=6), update(1, attempt=1, pid=7)
    )
    (job,) = shown.jobs
    assert (job.attempt, job.earlier_attempts, len(job.ranks)) == (1, 1, 2)


def test_a_rank_that_began_again_is_the_one_that_began_last(update):
    store = Store(HOST)
    shown = take(
        store,
        update(0, pid=9, created_wall_ns=20),
        update(0, pid=8, created_wall_ns=10, sighting=GONE),
    )
    assert shown.jobs[0].ranks[0].identity.process.pid == 9


def test_a_rank_that_began_again_after_the_clock_was_set_back_is_the_one_that_began_last(update):
    """Of one boot the clock that nobody sets decides; of several boots the one on the wall."""
    store = Store(HOST)
    shown = take(
        store,
        update(0, pid=9, created_wall_ns=10, created_monotonic_ns=2_000),
        update(0, pid=8, created_wall_ns=20, created_monotonic_ns=1_000, sighting=GONE),
        update(1, pid=7, created_wall_ns=20, created_monotonic_ns=1_000, boot_id="boot-b"),
        update(1, pid=6, created_wall_ns=10, created_monotonic_ns=2_000, sighting=GONE),
    )
    assert [rank.identity.process.pid for rank in shown.jobs[0].ranks] == [9, 7]


def test_a_ring_that_is_gone_is_forgotten(update):
    store = Store(HOST)
    take(store, update(0), update(1))
    assert [rank.identity.rank for rank in take(store, update(1)).jobs[0].ranks] == [1]


def test_a_writer_that_the_process_table_does_not_know_lives_in_another_namespace(update, make_record):
    store = Store(HOST)
    take(store, update(sighting=GONE, samples=(make_record(at_ns=9 * S),)), at_s=10)
    shown = take(store, update(sighting=GONE, samples=(make_record(at_ns=int(10.5 * S)),)), at_s=11)
    assert shown.jobs[0].ranks[0].verdict.state is RankState.RUNNING


def test_a_clock_that_was_set_back_gives_no_negative_age(update, make_record):
    store = Store(HOST)
    shown = take(store, update(boot_id="boot-b", host="node-b", samples=(make_record(at_ns=9_999 * S),)))
    assert shown.jobs[0].ranks[0].age_s(shown.moment) == 0


def test_a_ring_of_an_earlier_boot_of_this_machine(update, make_record):
    store = Store(HOST)
    unseen = Sighting(Life.UNKNOWN)
    shown = take(store, update(boot_id="boot-0", sighting=unseen, samples=(make_record(at_ns=S),)))
    assert shown.jobs[0].ranks[0].verdict.what is What.REBOOTED


def test_a_cpu_job_says_so(update, make_record):
    record = make_record(Kind.STEP, 9 * S, step=1, weights_host=5)
    record.measures.lack("allocator", Reason.CPU_JOB)
    rank = take(Store(HOST), update(steps=(record,))).jobs[0].ranks[0]
    assert (rank.allocator, rank.allocator_reason) == (None, Reason.CPU_JOB)


def test_history_keeps_the_last_steps_and_a_past_stays_what_it_was():
    history, early = History(), None
    for step in range(1, 20_001):
        history.add((step, step, None, step, None))
        history.add((step, step + 1, None, step, None))
        early = history.past if step == 500 else early
    steps = [point.step for point in history.recent]
    assert steps == list(range(20_001 - RECENT, 20_001))
    assert early is not None
    assert [point.step for point in early.points] == list(range(501 - RECENT, 501))


@pytest.mark.parametrize(
    "point",
    [
        Point(1, 2, 3, 4, 5),
        Point(0, 0, None, None, None),
        Point((1 << 64) - 2, (1 << 64) - 1, 0, (1 << 64) - 2, None),
    ],
)
def test_a_point_comes_back_as_it_was(point):
    history = History()
    history.add(astuple(point))
    told = replace(point, monotonic_ns=point.monotonic_ns % ((1 << 64) - 1))
    assert history.recent == (told,)
    assert unpacked(packed([point, point])) == (told, told)
    assert history.past.last(1) == packed([point])


def test_a_view_that_is_asked_late_tells_what_was_so_at_its_look(update, make_record):
    store = Store(HOST)
    looks = []
    for step in (1, 2, 3):
        steps = (
            make_record(Kind.STEP, step * S, step=step, allocated=step, active=step, weights_device=step),
        )
        looks.append(take(store, update(steps=steps, samples=(make_record(at_ns=step * S, step=step),))))
    ranks = [look.jobs[0].ranks[0] for look in looks]
    assert [list(rank.lately(2)[STEPS]) for rank in ranks] == [[1], [1, 2], [2, 3]]
    assert [[point.step for point in rank.history] for rank in ranks] == [[1], [1, 2], [1, 2, 3]]
    assert list(replace(ranks[2], errors=1).lately(2)[STEPS]) == [2, 3]
    assert [(rank.step, rank.measured.weights, rank.last_ns) for rank in ranks] == [
        (step, step, step * S) for step in (1, 2, 3)
    ]
    assert not hasattr(ranks[0], "colour")


def test_many_plans_are_read_a_few_at_a_look(tmp_path):
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    source = RingSource(str(folder))
    store, moment = Store(source.host, plan_bytes=1), Moment(0, 0)
    with MadeUpJob(folder, 4) as job:
        job.plan()
        job.step(1)
        read = [
            sum(rank.plan is not None for rank in store.take(source.poll(moment), moment).jobs[0].ranks)
            for _ in range(5)
        ]
    source.close()
    assert read == [1, 2, 3, 4, 4]
