"""Ranks, jobs and snapshots as values, and rings on disk for what reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from live_ranks import CPU_RANK, GPU_RANK, S

from scaletui.state.live import LiveState
from scaletui_engine.live.discovery import Place
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.snapshot import JobView, Moment, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.snapshot import RankView


@pytest.fixture
def make_rank() -> Callable[..., RankView]:
    """A rank of a CPU job, or of a GPU job with `gpu=True`, with some fields replaced."""

    def make(
        rank: int = 0, gpu: bool = False, what: What = What.NOTHING, detail: str = "", **fields: object
    ) -> RankView:
        base = GPU_RANK if gpu else CPU_RANK
        identity = replace(base.identity, rank=rank, **fields.pop("identity", {}))  # type: ignore[arg-type]
        ended = what not in (What.NOTHING, What.ORPHANED, What.SILENT, What.STOPPED)
        state = RankState.EXITED if ended else RankState.RUNNING
        verdict = Verdict(state, what, detail)
        return replace(base, identity=identity, verdict=verdict, **fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_state() -> Callable[..., LiveState]:
    """A state that shows one job of these ranks, or several jobs."""

    def make(*ranks: RankView, jobs: tuple[JobView, ...] = (), **fields: object) -> LiveState:
        shown = jobs or (make_job(*ranks),)
        snapshot = Snapshot(Moment(10 * S, 0), shown, (Place("/tmp/rings", rings=len(ranks)),), ())
        return LiveState(shown=snapshot, newest=snapshot, **fields)  # type: ignore[arg-type]

    return make


def make_job(*ranks: RankView, name: str = "4f2a") -> JobView:
    """A job of these ranks."""
    state = min(
        (rank.verdict.state for rank in ranks),
        key=(RankState.RUNNING, RankState.LOST, RankState.EXITED).index,
    )
    return JobView(name, 0, 0, state, len(ranks), tuple(ranks))


@pytest.fixture
def job_of() -> Callable[..., JobView]:
    return make_job
