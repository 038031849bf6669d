"""The scenario behind the job that is looked at: with the batch that the job or a person tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui_engine.errors import ScenarioError
from scaletui_engine.live.judgement import Difference
from scaletui_engine.live.outcome import Batch, Rebuilt, Unbuilt
from scaletui_engine.units import parse_count

if TYPE_CHECKING:
    from scaletui.state.live import LiveState
    from scaletui_engine.live.header import Identity
    from scaletui_engine.live.plan_document import JobPlan
    from scaletui_engine.live.snapshot import RankView
    from scaletui_engine.memory.budget import StageBudget
    from scaletui_engine.memory.fixes import Fix


@dataclass(frozen=True, slots=True)
class Foretold:
    """What the engine says of the job's rank at its peak, beyond its states."""

    activations: int
    loss: int
    unsharded: int

    @property
    def total(self) -> int:
        """What comes on top of the states."""
        return self.activations + self.loss + self.unsharded


def batch_of(state: LiveState, rank: RankView) -> Batch:
    """What a person told of the job, else what the job was started with."""
    told = dict(state.batches).get(rank.identity.job_id)
    return told or Batch(rank.identity.micro_batch, rank.identity.sequence_length)


def batch_told(state: LiveState, text: str) -> LiveState | None:
    """The state with the micro-batch and the sequence of the job that is looked at; None for another text."""
    job = state_of.job(state)
    words = text.replace("x", " ").replace(",", " ").split()
    try:
        micro_batch, seq = map(parse_count, words)
    except (ScenarioError, ValueError):
        return None
    if job is None or micro_batch < 1 or seq < 1:
        return None
    others = tuple(entry for entry in state.batches if entry[0] != job.id)
    return replace(state, batches=(*others, (job.id, Batch(micro_batch, seq))))


def told_rank(state: LiveState, rank: RankView) -> RankView:
    """The rank with the batch that a person told, for rules that need one; itself where nobody did."""
    told, identity = batch_of(state, rank), rank.identity
    if (told.micro_batch, told.seq) == (identity.micro_batch, identity.sequence_length):
        return rank
    identity = replace(identity, micro_batch=told.micro_batch, sequence_length=told.seq)
    return replace(rank, identity=identity)


def scenario_of(state: LiveState, rank: RankView) -> Rebuilt | Unbuilt:
    """The job of a rank as a scenario, or why it is none."""
    if rank.plan is None:
        return Unbuilt("no plan")
    return _rebuilt(_Same(rank.plan), rank.identity, batch_of(state, rank), rank.driver_total)


def foretold_of(state: LiveState, rank: RankView) -> Foretold | None:
    """What comes on top of the states at the peak; None where batch or architecture are not known."""
    found = scenario_of(state, rank)
    stage = _peak(found) if isinstance(found, Rebuilt) else None
    if stage is None:
        return None
    parts = stage.parts
    return Foretold(parts.activations, parts.loss, parts.unsharded)


def rise_of(state: LiveState, rank: RankView) -> Difference | None:
    """The peak beyond the states, predicted and measured; None where either is not known."""
    told, allocator, held = foretold_of(state, rank), rank.allocator, rank.measured
    if told is None or allocator is None or allocator.peak is None or held.weights is None:
        return None
    states = sum(
        amount or 0
        for amount in (held.weights, held.gradients, held.optimizer, held.master_weights, held.buffers)
    )
    return Difference("rest", told.total, max(allocator.peak - states, 0))


def fixes_of(found: Rebuilt) -> tuple[Fix, ...]:
    """Single changes that would make the job need less, those that are enough first."""
    return _fixes(found)


class _Same:
    """A plan, equal to itself alone: comparing thousands of parameters costs more than reading them once."""

    __slots__ = ("plan",)

    def __init__(self, plan: JobPlan) -> None:
        self.plan = plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.plan is other.plan

    def __hash__(self) -> int:
        return id(self.plan)


@lru_cache(4)
def _rebuilt(same: _Same, identity: Identity, batch: Batch, device_bytes: int | None) -> Rebuilt | Unbuilt:
    from scaletui_engine.live.rebuilt import rebuilt  # deferred: a job without a plan needs none of it

    return rebuilt(same.plan, identity, batch, device_bytes)


@lru_cache(4)
def _peak(found: Rebuilt) -> StageBudget | None:
    from scaletui_engine.live.rebuilt import foretold

    return foretold(found)


@lru_cache(2)
def _fixes(found: Rebuilt) -> tuple[Fix, ...]:
    from scaletui_engine.memory.fixes import fixes  # deferred: not needed to show a job

    try:
        return fixes(found.scenario)
    except ScenarioError:
        return ()
