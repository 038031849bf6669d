"""What the live screen keeps of a day of jobs that come, lose a rank, end and go."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING

from live_ranks import S

from scaletui.state.live import LiveState, arrived
from scaletui_engine.live.evidence import What
from scaletui_engine.live.snapshot import Moment, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.snapshot import JobView, RankView

HOUR_S, LOOK_S, HOURS = 3_600, 30, 24
MOST_GROWTH = 20_000


def test_a_day_of_jobs_leaves_no_more_behind_than_an_hour(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    """The ending of each of the 48 ranks, by its long path, would be more than that."""
    state, sizes = LiveState(), []
    tracemalloc.start()
    for second in range(0, HOURS * HOUR_S, LOOK_S):
        hour, past = divmod(second, HOUR_S)
        ends = [What.NOTHING if past < limit else What.KILLED for limit in (1_200, 2_400)]
        paths = [f"/rings/{'of-a-long-name/' * 40}{hour}-{rank}" for rank in (0, 1)]
        ranks = [
            make_rank(rank, path=path, step=second, last_ns=second * S, what=what)
            for rank, (path, what) in enumerate(zip(paths, ends, strict=True))
        ]
        job = job_of(*ranks, name=f"job-{hour}")
        state = arrived(state, Snapshot(Moment(second * S, second * S), (job,), (), ()))
        if past == HOUR_S - LOOK_S:
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(sizes) < sizes[1] + MOST_GROWTH, sizes
