"""What is concluded from what is known of a rank and of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.live.evidence import Evidence, RankState, Verdict, What
from scaletui_engine.live.process import Life
from scaletui_engine.live.verdict import verdicts
from scaletui_engine.live.watch import Ending

S = 1_000_000_000
ALIVE = Evidence(Life.ALIVE, Life.ALIVE, last_ns=100 * S, now_ns=101 * S, patience_ns=5 * S)
GONE = replace(ALIVE, life=Life.GONE, gone_ns=101 * S)
LEFT = replace(GONE, launcher_life=Life.GONE)
KILLED = Ending(signal=9)
TERMINATED = Ending(signal=15)
RUNNING, EXITED, LOST = RankState.RUNNING, RankState.EXITED, RankState.LOST


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param(ALIVE, Verdict(RUNNING), id="alive"),
        pytest.param(replace(ALIVE, life=Life.STOPPED), Verdict(RUNNING, What.STOPPED), id="halted"),
        pytest.param(replace(ALIVE, now_ns=106 * S), Verdict(RUNNING, What.SILENT), id="silent for 6 s"),
        pytest.param(replace(ALIVE, launcher_life=Life.GONE), Verdict(RUNNING, What.ORPHANED), id="orphan"),
        pytest.param(replace(GONE, exited=True), Verdict(EXITED, What.FINISHED), id="in order"),
        pytest.param(
            replace(GONE, exited=True, ending=Ending(code=0)), Verdict(EXITED, What.FINISHED), id="with 0"
        ),
        pytest.param(
            replace(GONE, exited=True, ending=Ending(code=3)),
            Verdict(EXITED, What.EXIT_CODE, "3"),
            id="sys.exit(3)",
        ),
        pytest.param(
            replace(GONE, ending=Ending(code=0)), Verdict(EXITED, What.EXIT_CODE, "0"), id="os._exit(0)"
        ),
        pytest.param(
            replace(GONE, exited=True, exception="ValueError", failed_ns=100 * S),
            Verdict(EXITED, What.EXCEPTION, "ValueError"),
            id="exception",
        ),
        pytest.param(
            replace(GONE, out_of_memory=True, exception="OutOfMemoryError", failed_ns=100 * S),
            Verdict(EXITED, What.OUT_OF_MEMORY, "OutOfMemoryError"),
            id="out of memory",
        ),
        pytest.param(GONE, Verdict(EXITED, What.KILLED), id="gone and the launcher lives"),
        pytest.param(
            replace(LEFT, ending=KILLED), Verdict(EXITED, What.KILLED, "SIGKILL"), id="signal 9 was seen"
        ),
        pytest.param(
            replace(GONE, ending=TERMINATED),
            Verdict(EXITED, What.KILLED, "SIGTERM"),
            id="SIGTERM from outside, the launcher lives and no other rank fell",
        ),
        pytest.param(
            replace(LEFT, ending=TERMINATED),
            Verdict(EXITED, What.ENDED_BY_LAUNCHER, "SIGTERM"),
            id="SIGTERM, and the launcher has left",
        ),
        pytest.param(
            replace(LEFT, ending=TERMINATED, launcher_ending=KILLED),
            Verdict(EXITED, What.KILLED, "SIGTERM"),
            id="SIGTERM, but the launcher had been killed",
        ),
        pytest.param(
            replace(GONE, ending=Ending(signal=200)), Verdict(EXITED, What.KILLED, "200"), id="no such signal"
        ),
        pytest.param(
            replace(GONE, ending=Ending(signal=11)), Verdict(EXITED, What.KILLED, "SIGSEGV"), id="crash"
        ),
        pytest.param(
            LEFT, Verdict(EXITED, What.KILLED_OR_ENDED), id="found after the end, nothing to tell by"
        ),
        pytest.param(replace(ALIVE, life=Life.UNKNOWN), Verdict(RUNNING), id="other machine, fresh"),
        pytest.param(
            replace(ALIVE, life=Life.UNKNOWN, now_ns=106 * S),
            Verdict(LOST, What.UNREACHABLE),
            id="other machine, silent",
        ),
        pytest.param(
            replace(ALIVE, life=Life.UNKNOWN, exited=True),
            Verdict(EXITED, What.FINISHED),
            id="other machine, said goodbye",
        ),
        pytest.param(
            replace(ALIVE, life=Life.UNKNOWN, same_boot=False),
            Verdict(EXITED, What.REBOOTED),
            id="this machine, an earlier boot",
        ),
    ],
)
def test_one_rank(evidence, expected):
    assert verdicts([evidence]) == (expected,)


def fell(first_s: float, last_s: float, **more: object) -> Evidence:
    """Gone without a word at some time between these two."""
    return replace(LEFT, last_ns=int(first_s * S), gone_ns=int(last_s * S), **more)


PEER_LOST = {"exited": True, "exception": "DistBackendError"}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        pytest.param(
            [fell(100, 100.3), fell(100.4, 100.6)],
            [What.KILLED, What.ENDED_BY_LAUNCHER],
            id="watched: the first to fall was killed, the launcher ended the second",
        ),
        pytest.param(
            [fell(100, 100.5), fell(100.2, 100.5)],
            [What.KILLED_OR_ENDED, What.KILLED_OR_ENDED],
            id="between the same two looks",
        ),
        pytest.param(
            [fell(100, 100.5, ending=KILLED), fell(100.2, 100.5, ending=TERMINATED)],
            [What.KILLED, What.ENDED_BY_LAUNCHER],
            id="between the same two looks, but the signals were seen",
        ),
        pytest.param(
            [
                replace(LEFT, last_ns=100 * S, gone_ns=None),
                replace(LEFT, failed_ns=int(100.2 * S), **PEER_LOST),
            ],
            [What.KILLED, What.LOST_PEER],
            id="black box: one is silent, the other complains of a lost peer",
        ),
        pytest.param(
            [
                replace(LEFT, last_ns=100 * S, gone_ns=None),
                replace(LEFT, failed_ns=int(100.2 * S), exited=True, exception="ValueError"),
            ],
            [What.ENDED_BY_LAUNCHER, What.EXCEPTION],
            id="black box: the other failed by itself, the launcher ended this one",
        ),
        pytest.param(
            [
                replace(LEFT, last_ns=101 * S, gone_ns=None),
                replace(LEFT, failed_ns=100 * S, exited=True, exception="RuntimeError"),
            ],
            [What.ENDED_BY_LAUNCHER, What.LOST_PEER],
            id="black box: this one still wrote after the other had failed",
        ),
        pytest.param(
            [fell(100, 100.5, launcher_ending=KILLED), fell(100, 100.5, launcher_ending=KILLED)],
            [What.KILLED, What.KILLED],
            id="orphans that were killed: a dead launcher ends nobody",
        ),
        pytest.param(
            [GONE, ALIVE], [What.KILLED, What.NOTHING], id="one gone, the launcher has not noticed yet"
        ),
        pytest.param(
            [replace(GONE, ending=TERMINATED), replace(GONE, ending=KILLED)],
            [What.ENDED_BY_LAUNCHER, What.KILLED],
            id="the launcher is still at it",
        ),
    ],
)
def test_ranks_of_one_job(job, expected):
    assert [verdict.what for verdict in verdicts(job)] == expected
