"""An FSDP2 step on numpy ranks: dim-0 shards with padding, layers gathered one at a time and freed again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.numerics.adam import Moments, adam, fresh
from scaletui_engine.numerics.autograd import Var, relu
from scaletui_engine.numerics.memory_states import held_states, memory_states
from scaletui_engine.numerics.outcome import Outcome, compare
from scaletui_engine.numerics.perceptron import SIZES, Batch, batch, weights
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.numerics.zero import STEPS, one_device
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.chunk import chunk, chunk_size
from scaletui_engine.sharding.fsdp2 import padded_numel
from scaletui_engine.sharding.traffic import data_volume
from scaletui_engine.sharding.traffic.call import total_sent
from scaletui_engine.sharding.traffic.data_volume import Volume

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]


@dataclass(slots=True)
class _Shards:
    """The state of all ranks: shards[parameter][rank], each padded to the first chunk."""

    shapes: list[tuple[int, ...]]
    ranks: int
    weights: list[list[Array]]
    moments: list[list[Moments]]
    log: WireLog
    unsharded: int = 0
    peak: int = 0
    held: dict[int, list[Array]] = field(default_factory=lambda: dict[int, "list[Array]"]())

    def gather(self, unit: int) -> list[Array]:
        """The whole parameters of one layer, the same on every rank."""
        found: list[Array] = []
        for index in (2 * unit, 2 * unit + 1):
            padded = np.concatenate(self.weights[index])
            self.log.record(Collective.ALL_GATHER, padded.size)
            self.unsharded += padded.size
            found.append(padded[: self.shapes[index][0]])
        self.peak = max(self.peak, self.unsharded)
        self.held[unit] = found
        return found

    def free(self, unit: int) -> None:
        """Forget the gathered copy."""
        self.unsharded -= sum(
            padded_numel(self.shapes[index], self.ranks) * self.ranks for index in (2 * unit, 2 * unit + 1)
        )
        del self.held[unit]


def fsdp(ranks: int, steps: int = STEPS) -> Outcome:
    """Train layer by layer; compare the weights, and count shards and the gathered peak."""
    data = [batch(4 * ranks, seed=step) for step in range(steps)]
    state = _sharded(weights(), ranks)
    kept = 0
    for each in data:
        kept = max(kept, _step(state, each))
    found = [
        np.concatenate(pieces)[: shape[0]] for pieces, shape in zip(state.weights, state.shapes, strict=True)
    ]
    padded = sum(padded_numel(shape, ranks) for shape in state.shapes)
    counted = sum(pieces[0].size for pieces in state.weights)
    moments = sum(each[0].size for each in state.moments)
    largest = max(
        sum(padded_numel(shape, ranks) * ranks for shape in state.shapes[unit : unit + 2])
        for unit in range(0, len(state.shapes), 2)
    )
    held = held_states(
        {"weights": counted, "gradients": kept, "optimizer": moments, "unsharded": state.peak},
        {"weights": padded, "gradients": padded, "optimizer": 2 * padded, "unsharded": largest},
        memory_states(Strategy.FSDP, ranks),
    )
    sent = total_sent(data_volume.zero3(Volume(padded * ranks, 1, 1, ranks)))
    return Outcome(
        "fsdp", ranks, *compare(one_device(steps, data), found), held, state.log.sent, sent * steps
    )


def _sharded(params: list[Array], ranks: int) -> _Shards:
    pieces = [[_padded(param, ranks, rank) for rank in range(ranks)] for param in params]
    moments = [[fresh(piece.shape) for piece in each] for each in pieces]
    return _Shards([param.shape for param in params], ranks, pieces, moments, WireLog(ranks))


def _padded(param: Array, ranks: int, rank: int) -> Array:
    start, stop = chunk(len(param), ranks, rank)
    missing = chunk_size(len(param), ranks) - (stop - start)
    return np.pad(param[start:stop], [(0, missing)] + [(0, 0)] * (param.ndim - 1))


def _step(state: _Shards, data: Batch) -> int:
    """Forward, backward and Adam; returns the gradient elements a rank kept."""
    inputs, layers = _forward(state, data), len(SIZES) - 1
    each = len(data) // state.ranks
    flowing = [
        (inputs[-1][rank] - data.y[rank * each : (rank + 1) * each]) / each for rank in range(state.ranks)
    ]
    kept: dict[int, list[Array]] = {}
    for unit in reversed(range(layers)):
        whole = state.gather(unit)
        sums: list[list[Array]] = []
        for rank in range(state.ranks):
            x, held = Var(inputs[unit][rank]), [Var(param) for param in whole]
            _layer(x, held, last=unit == layers - 1).backward(flowing[rank])
            flowing[rank] = x.grad
            sums.append([var.grad for var in held])
        state.free(unit)
        for place, index in enumerate((2 * unit, 2 * unit + 1)):
            mean = np.sum([grads[place] for grads in sums], axis=0) / state.ranks
            kept[index] = [_padded(mean, state.ranks, rank) for rank in range(state.ranks)]
            state.log.record(Collective.REDUCE_SCATTER, kept[index][0].size * state.ranks)
    for index, grads in kept.items():
        for rank, grad in enumerate(grads):
            state.weights[index][rank], state.moments[index][rank] = adam(
                state.weights[index][rank], grad, state.moments[index][rank]
            )
    return sum(grads[0].size for grads in kept.values())


def _forward(state: _Shards, data: Batch) -> list[list[Array]]:
    """What every layer is given on every rank, and the last output."""
    each, layers = len(data) // state.ranks, len(SIZES) - 1
    inputs = [[data.x[rank * each : (rank + 1) * each] for rank in range(state.ranks)]]
    for unit in range(layers):
        held = [Var(param) for param in state.gather(unit)]
        inputs.append([_layer(Var(x), held, last=unit == layers - 1).data for x in inputs[-1]])
        state.free(unit)
    return inputs


def _layer(x: Var, held: list[Var], *, last: bool) -> Var:
    out = x @ held[0] + held[1]
    return out if last else relu(out)
