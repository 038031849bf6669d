"""Megatron's conjugate pairs over a leading rank axis: what one does forward the other does backward.

Sources: arXiv:1909.08053, section 3 (f and g); arXiv:2205.05198, section 4.2 (sequence parallelism).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.numerics.autograd import Var

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from scaletui_engine.numerics.wire_log import WireLog

    Array = NDArray[float64]


def copy_to_ranks(x: Var, log: WireLog) -> Var:
    """f: nothing forward, an all-reduce of the gradient backward."""

    def pull(grad: Array) -> Array:
        log.record(Collective.ALL_REDUCE, grad[0].size)
        return np.broadcast_to(grad.sum(axis=0), grad.shape)

    return Var(x.data, ((x, pull),))


def reduce_from_ranks(x: Var, log: WireLog) -> Var:
    """g: an all-reduce forward, nothing backward."""
    log.record(Collective.ALL_REDUCE, x.data[0].size)
    return Var(np.broadcast_to(x.data.sum(axis=0), x.shape), ((x, lambda grad: grad),))


def gather_sequence(x: Var, log: WireLog) -> Var:
    """(ranks, s / ranks, h) -> (ranks, s, h): an all-gather forward, a reduce-scatter backward."""
    log.record(Collective.ALL_GATHER, x.data.size)

    def pull(grad: Array) -> Array:
        log.record(Collective.REDUCE_SCATTER, grad[0].size)
        pulled: Array = grad.sum(axis=0).reshape(x.shape)
        return pulled

    return Var(np.broadcast_to(_joined(x.data), _whole(x.shape)), ((x, pull),))


def scatter_sequence(x: Var, log: WireLog) -> Var:
    """(ranks, s, h) -> (ranks, s / ranks, h): a reduce-scatter forward, an all-gather backward."""
    log.record(Collective.REDUCE_SCATTER, x.data[0].size)
    ranks, seq, width = x.shape

    def pull(grad: Array) -> Array:
        log.record(Collective.ALL_GATHER, grad.size)
        return np.broadcast_to(_joined(grad), x.shape)

    return Var(x.data.sum(axis=0).reshape(ranks, seq // ranks, width), ((x, pull),))


def _joined(data: Array) -> Array:
    return data.reshape(-1, data.shape[-1])


def _whole(shape: tuple[int, ...]) -> tuple[int, int, int]:
    ranks, seq, width = shape
    return ranks, ranks * seq, width
