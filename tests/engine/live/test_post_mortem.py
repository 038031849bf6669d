"""Who fell first and what followed: as values, and of real jobs whose folder is opened when all is over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from live_ranks import CPU_RANK, S
from looks import Story, looks
from probe.workbench import Workbench

from scaletui_engine.live.contract import contract
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.held import Held
from scaletui_engine.live.post_mortem import post_mortem
from scaletui_engine.live.snapshot import Happening, JobView
from scaletui_probe.layout import Event

GIB = 1 << 30
JOB = Path(__file__).with_name("jobs") / "ending.py"


def rank(number, what=What.NOTHING, detail="", at_s=100.0, told=None, host="node-a"):
    """A rank whose last record is at `at_s`, and that told its end at `told` seconds."""
    state = RankState.RUNNING if what is What.NOTHING else RankState.EXITED
    kind = Event.EXIT if what is What.FINISHED else Event.EXCEPTION
    happening = Happening(kind, int((told or 0) * S), 10, (0, 0), detail, None, Held())
    return replace(
        CPU_RANK,
        identity=replace(CPU_RANK.identity, rank=number, host=host),
        verdict=Verdict(state, what, detail),
        last_wall_ns=int(at_s * S),
        happenings=(happening,) if told else (),
    )


def job(*ranks):
    state = (
        RankState.RUNNING if any(r.verdict.state is RankState.RUNNING for r in ranks) else RankState.EXITED
    )
    return JobView("job", 0, 0, state, len(ranks), ranks)


KILLED = (What.KILLED, "SIGKILL")
PEER = (What.LOST_PEER, "RuntimeError")


def silent(number, at_s):
    return rank(number, What.KILLED_OR_ENDED, at_s=at_s)


def failed(number, name, told, **fields):
    return rank(number, What.EXCEPTION, name, told=told, **fields)


BY_LAUNCHER = rank(2, What.ENDED_BY_LAUNCHER, "SIGTERM", at_s=99.0)


@pytest.mark.parametrize(
    ("ranks", "order", "is_known"),
    [
        pytest.param([rank(0, *PEER, told=100.3), rank(1, *KILLED)], [1, 0], True, id="peer-after"),
        pytest.param([rank(0, *PEER, told=99.9), rank(1, *KILLED)], [1, 0], True, id="clock-before"),
        pytest.param([silent(0, 100.2), silent(1, 100.0)], [1, 0], False, id="close"),
        pytest.param([silent(0, 104.0), silent(1, 100.0)], [1, 0], True, id="far-apart"),
        pytest.param(
            [failed(0, "ValueError", 100.2), failed(1, "KeyError", 100.1)], [1, 0], True, id="both-told"
        ),
        pytest.param(
            [failed(0, "ValueError", 100.2, host="node-b"), failed(1, "KeyError", 100.1)],
            [1, 0], False, id="two-machines",
        ),
        pytest.param(
            [failed(0, "RuntimeError", 100.2), failed(1, "KeyError", 100.1), BY_LAUNCHER],
            [1, 2, 0], True, id="followers",
        ),
        pytest.param(
            [failed(0, "RuntimeError", 100.2), failed(1, "RuntimeError", 100.1)], [1, 0], True, id="all-alike"
        ),
        pytest.param([rank(0, What.FINISHED, told=99.0), rank(1, *KILLED)], [1, 0], True, id="one-finished"),
        pytest.param([silent(0, 100.0), failed(1, "KeyError", 100.5)], [1, 0], False, id="told-of-its-fault"),
        pytest.param([silent(0, 95.0), failed(1, "KeyError", 100.5)], [0, 1], True, id="silent-long-before"),
    ],
)  # fmt: skip
def test_order(ranks, order, is_known):
    found = post_mortem(job(*ranks))
    assert [item.rank.identity.rank for item in found.departures] == order
    assert found.is_order_known is is_known
    assert not found.in_order


@pytest.mark.parametrize(
    ("ranks", "still_there"),
    [
        ([rank(0), rank(1)], None),
        ([rank(0), rank(1, What.FINISHED, told=99.0)], None),
        ([rank(0), rank(1, *KILLED)], 1),
        ([rank(0, What.FINISHED, told=99.0), rank(1, What.FINISHED, told=98.0)], 0),
    ],
)
def test_a_job_that_goes_on_has_no_end_to_tell_of(ranks, still_there):
    found = post_mortem(job(*ranks))
    assert (None if found is None else found.still_there) == still_there
    if still_there == 0:
        assert found.in_order


def test_the_moment_without_memory_and_what_was_held_then():
    *_, last = looks(Story(3, fails_at=9), 10)
    found = post_mortem(last.jobs[0])
    culprit, happening = found.out_of_memory
    assert (culprit.identity.rank, happening.event, happening.values) == (0, Event.OOM, (2 * GIB, GIB))
    assert happening.held == culprit.now
    assert [item.rank.identity.rank for item in found.departures] == [0, 1, 2]


ENDINGS = {"kill": "killed", "raise": "exception", "oom": "out of memory", "exit": "killed"}
"""What is said of the first: of one that called os._exit nobody can tell that it was not killed."""


@pytest.fixture
def bench(tmp_path):
    for name in ("rings", "out"):
        (tmp_path / name).mkdir(mode=0o700)
    return Workbench(tmp_path / "rings", tmp_path / "out")


@pytest.mark.torch
@pytest.mark.parametrize("how", ENDINGS)
def test_a_real_job_looked_at_when_all_is_over(bench, watch, how):
    outcome = bench.run(bench.torchrun(2, str(JOB), how))
    assert outcome.code != 0
    seen = watch(bench.rings, lambda now: now.jobs[0].state is RankState.EXITED)
    (told,) = contract(seen)["jobs"]
    first, second = told["post_mortem"]["departures"]
    assert (first["rank"], second["rank"]) == (1, 0)
    assert told["post_mortem"]["is_order_known"]
    assert second["follows"]
    assert first["what"] == ENDINGS[how]
    assert first["told"] is (how in ("raise", "oom"))
    # The probe writes a step only as often as its budget allows: silent ranks may have made one more.
    assert first["step"] == 10 if first["told"] else first["step"] in (8, 9, 10)
    assert told["post_mortem"]["out_of_memory_rank"] == (1 if how == "oom" else None)
    assert first["last_steps"][-1]["step"] <= 10


@pytest.mark.torch
def test_a_real_job_that_ended_in_order(bench, watch):
    assert bench.run(bench.torchrun(2, str(JOB), "end")).code == 0
    (ended,) = watch(bench.rings, lambda now: now.jobs[0].state is RankState.EXITED).jobs
    found = post_mortem(ended)
    assert found.in_order
    assert [item.rank.step for item in found.departures] == [12, 12]
