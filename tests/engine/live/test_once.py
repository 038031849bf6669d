"""An answer about one look at a job is worked out once, and never taken for that about another."""

from __future__ import annotations

from live_ranks import CPU_RANK

from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.once import once_a_look
from scaletui_engine.live.snapshot import JobView


def test_the_same_look_is_worked_out_once_and_an_equal_one_anew() -> None:
    asked: list[JobView] = []

    @once_a_look
    def size(job: JobView) -> int:
        asked.append(job)
        return job.world_size

    looks = [JobView("a", 0, 0, RankState.RUNNING, count, (CPU_RANK,)) for count in (2, 2, 3)]
    for job in looks:
        assert [size(job), size(job)] == [job.world_size] * 2
    assert list(map(id, asked)) == list(map(id, looks))
