"""Data parallelism on numpy ranks: uneven shards, DDP's buckets, gradient accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.collectives.execute import run
from scaletui_engine.collectives.ring import ring_all_reduce
from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.numerics.memory_states import held_states, memory_states
from scaletui_engine.numerics.outcome import Outcome, compare
from scaletui_engine.numerics.perceptron import batch, gradients, weights
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.chunk import chunk
from scaletui_engine.sharding.ddp import buckets

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from scaletui_engine.numerics.outcome import Held

    Array = NDArray[float64]

SAMPLES = 10


def weighted_mean(ranks: int) -> Outcome:
    """Shards of unequal size: each rank's mean counts by its samples, not as one of n."""
    params, data = weights(), batch(SAMPLES)
    parts = [data.part(*chunk(len(data), ranks, rank)) for rank in range(ranks)]
    local = [gradients(params, part) for part in parts]
    found = [
        np.sum(
            [len(part) / len(data) * grads[index] for part, grads in zip(parts, local, strict=True)], axis=0
        )
        for index in range(len(params))
    ]
    errors = compare(gradients(params, data), found)
    return Outcome("dp", ranks, *errors, _held(params, local[0], ranks))


def _held(params: list[Array], grads: list[Array], ranks: int) -> tuple[Held, ...]:
    """A replica's weights and gradients, as the memory engine counts them under DDP."""
    size = sum(param.size for param in params)
    counted = {"weights": size, "gradients": sum(grad.size for grad in grads)}
    return held_states(counted, {"weights": size, "gradients": size}, memory_states(Strategy.DDP, ranks))


def unweighted_mean_error(ranks: int) -> float:
    """How wrong a plain mean over ranks is on the same shards: 0 only where they are equal."""
    params, data = weights(), batch(SAMPLES)
    local = [gradients(params, data.part(*chunk(len(data), ranks, rank))) for rank in range(ranks)]
    found = [np.mean([grads[index] for grads in local], axis=0) for index in range(len(params))]
    return compare(gradients(params, data), found)[0]


def bucketed(ranks: int, caps: tuple[float, float] = (100, 150)) -> Outcome:
    """DDP: gradients averaged bucket by bucket over a ring that runs step by step; sizes in elements."""
    params, data = weights(), batch(4 * ranks)
    local = [gradients(params, data.part(4 * rank, 4 * rank + 4)) for rank in range(ranks)]
    averaged: dict[int, Array] = {}
    log = WireLog(ranks)
    groups = buckets([param.size for param in params], caps)
    for group in groups:
        flat = [np.concatenate([grads[index].reshape(-1) for index in group]) for grads in local]
        total = run(ring_all_reduce(ranks, flat[0].size), flat)[0] / ranks
        log.record(Collective.ALL_REDUCE, flat[0].size)
        start = 0
        for index in group:
            param = params[index]
            averaged[index] = total[start : start + param.size].reshape(param.shape)
            start += param.size
    formula = sum(
        sent_bytes(Collective.ALL_REDUCE, sum(params[index].size for index in group), ranks)
        for group in groups
    )
    found = [averaged[index] for index in range(len(params))]
    errors = compare(gradients(params, data), found)
    return Outcome("ddp", ranks, *errors, _held(params, found, ranks), log.sent, formula)


def accumulated(ranks: int, microbatches: int = 4) -> Outcome:
    """Microbatches on every rank: gradients add up, and are reduced once at the end."""
    params, data = weights(), batch(2 * microbatches * ranks)
    totals = [[np.zeros_like(param) for param in params] for _ in range(ranks)]
    for part in range(microbatches * ranks):
        for total, grad in zip(
            totals[part % ranks], gradients(params, data.part(2 * part, 2 * part + 2)), strict=True
        ):
            total += grad / microbatches
    log = WireLog(ranks)
    found = [np.sum(each, axis=0) / ranks for each in zip(*totals, strict=True)]
    for each in found:
        log.record(Collective.ALL_REDUCE, each.size)
    formula = sum(sent_bytes(Collective.ALL_REDUCE, param.size, ranks) for param in params)
    errors = compare(gradients(params, data), found)
    return Outcome("accumulation", ranks, *errors, _held(params, totals[0], ranks), log.sent, formula)
