"""Ring attention on numpy ranks, head-tail split: keys and values travel, softmax is merged by blocks.

Sources: arXiv:2310.01889; FlashAttention-2, arXiv:2307.08691, section 3.1 (log-sum-exp, backward pass).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.numerics.autograd import Var, softmax
from scaletui_engine.numerics.outcome import Held, Outcome, compare
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.sharding.context import head_tail

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    Array = NDArray[float64]

CHUNKS, WIDTH = 3, 8
"""Tokens of each of the 2 cp chunks, and features of the head."""


@dataclass(slots=True)
class _Rank:
    tokens: NDArray[int64]
    q: Array
    k: Array
    v: Array
    out: Array
    lse: Array


def ring_attention(ranks: int) -> Outcome:
    """Causal attention of one head, forward and backward."""
    seq = 2 * ranks * CHUNKS
    dice = np.random.default_rng(5)
    q, k, v = (dice.normal(size=(seq, WIDTH)) for _ in range(3))
    order = np.array(head_tail(seq, ranks).order(), dtype=np.int64).reshape(ranks, -1)
    held = [
        _Rank(own, q[own], k[own], v[own], np.zeros((len(own), WIDTH)), np.full((len(own), 1), -np.inf))
        for own in order
    ]
    log = WireLog(ranks)
    _forward(held, log)
    grad = np.cos(np.arange(seq * WIDTH).reshape(seq, WIDTH))
    gradients = _backward(held, grad, log)
    expected = _alone(q, k, v, grad)
    outputs = np.empty_like(q)
    for mine in held:
        outputs[mine.tokens] = mine.out
    local = 2 * len(order[0]) * WIDTH
    counted = (Held("keys and values", held[0].k.size + held[0].v.size, 2 * seq * WIDTH // ranks),)
    formula = local * (2 * (ranks - 1) + (ranks if ranks > 1 else 0))
    return Outcome("cp", ranks, *compare(expected, [outputs, *gradients]), counted, log.sent, formula)


def _scores(mine: _Rank, other: _Rank) -> Array:
    scores = mine.q @ other.k.T * WIDTH**-0.5
    return np.where(other.tokens[None, :] <= mine.tokens[:, None], scores, -np.inf)


def _forward(held: list[_Rank], log: WireLog) -> None:
    """In hop t rank r works on the keys and values of rank r - t."""
    ranks = len(held)
    for hop in range(ranks):
        for rank, mine in enumerate(held):
            _merge(mine, held[(rank - hop) % ranks])
        if hop < ranks - 1:
            log.record(Collective.SEND, held[0].k.size + held[0].v.size)


def _merge(mine: _Rank, other: _Rank) -> None:
    """Add a block of keys: both parts are scaled to the common log-sum-exp."""
    scores = _scores(mine, other)
    top = np.maximum(scores.max(axis=1, keepdims=True), -1e300)
    weights = np.exp(scores - top)
    with np.errstate(divide="ignore"):
        lse = top + np.log(weights.sum(axis=1, keepdims=True))
    both = np.logaddexp(mine.lse, lse)
    part = np.exp(scores - np.where(np.isfinite(both), both, 0.0)) @ other.v
    mine.out = mine.out * np.exp(mine.lse - both) + part
    mine.lse = both


def _backward(held: list[_Rank], grad: Array, log: WireLog) -> list[Array]:
    """dq stays; dk and dv travel with their keys and come home in the last hop."""
    found = [np.zeros_like(grad) for _ in range(3)]
    ranks = len(held)
    for hop in range(ranks):
        for rank, mine in enumerate(held):
            other = held[(rank - hop) % ranks]
            weights = np.exp(_scores(mine, other) - mine.lse)
            own = grad[mine.tokens]
            delta = (own * mine.out).sum(axis=1, keepdims=True)
            inner = weights * (own @ other.v.T - delta) * WIDTH**-0.5
            found[0][mine.tokens] += inner @ other.k
            found[1][other.tokens] += inner.T @ mine.q
            found[2][other.tokens] += weights.T @ own
        if ranks > 1:
            size = held[0].k.size + held[0].v.size
            log.record(Collective.SEND, size)
            if hop < ranks - 1:
                log.record(Collective.SEND, size)
    return found


def _alone(q: Array, k: Array, v: Array, grad: Array) -> list[Array]:
    held = [Var(q), Var(k), Var(v)]
    mask = np.triu(np.full((len(q), len(q)), -np.inf), 1)
    scores = (held[0] @ held[1].swapped(0, 1)).scaled(WIDTH**-0.5)
    out = softmax(scores, mask) @ held[2]
    out.backward(grad)
    return [out.data, *(var.grad for var in held)]
