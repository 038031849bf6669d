"""ZeRO-1, 2 and 3 with Adam on numpy ranks, cut as DeepSpeed cuts them (arXiv:1910.02054)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.errors import ValueRangeError
from scaletui_engine.numerics.adam import Moments, adam, fresh
from scaletui_engine.numerics.memory_states import held_states, memory_states
from scaletui_engine.numerics.outcome import Outcome, compare
from scaletui_engine.numerics.perceptron import Batch, batch, gradients, weights
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.traffic import data_volume
from scaletui_engine.sharding.traffic.call import total_sent
from scaletui_engine.sharding.traffic.data_volume import Volume
from scaletui_engine.sharding.zero import Zero3Param, zero_buffer

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from scaletui_engine.numerics.outcome import Held

    Array = NDArray[float64]

STEPS = 3
_RS, _AG = Collective.REDUCE_SCATTER, Collective.ALL_GATHER


@dataclass(slots=True)
class _Rank:
    """What one rank keeps between steps."""

    weights: list[Array]
    moments: list[Moments]
    gradients: list[Array] = field(default_factory=lambda: list["Array"]())
    """Kept after the reduction, until the optimizer's step."""
    peak: Counter[str] = field(default_factory=lambda: Counter[str]())
    """Most elements of each part that were held at once."""

    def note(self) -> None:
        """Count what is held now."""
        now = {
            "weights": sum(each.size for each in self.weights),
            "gradients": sum(each.size for each in self.gradients),
            "optimizer": sum(each.size for each in self.moments),
        }
        self.peak |= Counter(now)


def one_device(steps: int, data: list[Batch]) -> list[Array]:
    """The same training without ranks."""
    params = weights()
    moments = [fresh(param.shape) for param in params]
    for step in range(steps):
        for index, grad in enumerate(gradients(params, data[step])):
            params[index], moments[index] = adam(params[index], grad, moments[index])
    return params


def zero(stage: int, ranks: int, steps: int = STEPS) -> Outcome:
    """Train, then compare the weights and count what a rank held. Raises ValueRangeError for the stage."""
    if stage not in (1, 2, 3):
        raise ValueRangeError(f"ZeRO stage {stage} is not in 1 <= stage <= 3")
    data = [batch(4 * ranks, seed=step) for step in range(steps)]
    expected, log = one_device(steps, data), WireLog(ranks)
    found, held = (_partitioned if stage == 3 else _buffered)(stage, data, log)
    sent = _predicted_sent(stage, ranks) * steps
    return Outcome(f"zero{stage}", ranks, *compare(expected, found), held, log.sent, sent)


def _predicted_sent(stage: int, ranks: int) -> int:
    """What the volume formulas say for one step, in elements."""
    numels = tuple(param.size for param in weights())
    if stage == 3:
        padded = sum(Zero3Param(numel, ranks).allocated * ranks for numel in numels)
        return total_sent(data_volume.zero3(Volume(padded, 1, 1, ranks)))
    padded = zero_buffer(numels, ranks).padded
    return total_sent(data_volume.zero1(Volume(padded, 1, 1, ranks)))


def _local(params: list[Array], data: Batch, ranks: int) -> list[list[Array]]:
    each = len(data) // ranks
    return [gradients(params, data.part(rank * each, (rank + 1) * each)) for rank in range(ranks)]


def _flat(arrays: list[Array], length: int) -> Array:
    flat = np.concatenate([array.reshape(-1) for array in arrays])
    return np.pad(flat, (0, length - flat.size))


def _buffered(stage: int, data: list[Batch], log: WireLog) -> tuple[list[Array], tuple[Held, ...]]:
    """Stages 1 and 2: whole weights everywhere, one flat buffer of gradients cut into equal partitions."""
    params, ranks = weights(), log.ranks
    layout = zero_buffer(tuple(param.size for param in params), ranks)
    kept = [_Rank([param.copy() for param in params], [fresh((layout.partition,))]) for _ in range(ranks)]
    for each in data:
        local = _local(kept[0].weights, each, ranks)
        log.record(_RS, layout.padded)
        mean = np.sum([_flat(grads, layout.padded) for grads in local], axis=0) / ranks
        pieces: list[Array] = []
        for rank, mine in enumerate(kept):
            cut = slice(*layout.range(rank))
            mine.gradients = local[rank] if stage == 1 else [mean[cut]]
            mine.note()
            piece, mine.moments[0] = adam(_flat(mine.weights, layout.padded)[cut], mean[cut], mine.moments[0])
            pieces.append(piece)
        log.record(_AG, layout.padded)
        whole = np.concatenate(pieces)
        for mine in kept:
            mine.weights, mine.gradients = _unflat(whole, params), []
    size = sum(param.size for param in params)
    predicted = {
        "weights": size,
        "gradients": size if stage == 1 else layout.partition,
        "optimizer": 2 * layout.partition,
    }
    return kept[-1].weights, _held(stage, kept, predicted)


def _unflat(flat: Array, like: list[Array]) -> list[Array]:
    found: list[Array] = []
    start = 0
    for param in like:
        found.append(flat[start : start + param.size].reshape(param.shape))
        start += param.size
    return found


def _partitioned(stage: int, data: list[Batch], log: WireLog) -> tuple[list[Array], tuple[Held, ...]]:
    """Stage 3: every parameter flat and cut alone; gathered whole for the pass, then freed."""
    assert stage == 3
    params, ranks = weights(), log.ranks
    cuts = [Zero3Param(param.size, ranks) for param in params]
    widths = [cut.allocated for cut in cuts]
    kept = [
        _Rank(
            [
                _flat([param], width * ranks)[rank * width : (rank + 1) * width]
                for param, width in zip(params, widths, strict=True)
            ],
            [fresh((width,)) for width in widths],
        )
        for rank in range(ranks)
    ]
    for each in data:
        gathered = _gathered(kept, params)
        for width in widths:
            log.record(_AG, width * ranks)
            log.record(_AG, width * ranks)
        local = _local(gathered, each, ranks)
        for index, width in enumerate(widths):
            log.record(_RS, width * ranks)
            mean = np.sum([_flat([grads[index]], width * ranks) for grads in local], axis=0) / ranks
            for rank, mine in enumerate(kept):
                mine.gradients.append(mean[rank * width : (rank + 1) * width])
                mine.note()
        for mine in kept:
            _updated(mine)
    total = sum(widths)
    return _gathered(kept, params), _held(
        stage, kept, {"weights": total, "gradients": total, "optimizer": 2 * total}
    )


def _updated(mine: _Rank) -> None:
    """Adam on the rank's own pieces; the gradients are gone then."""
    for index, grad in enumerate(mine.gradients):
        mine.weights[index], mine.moments[index] = adam(mine.weights[index], grad, mine.moments[index])
    mine.gradients = []


def _gathered(kept: list[_Rank], like: list[Array]) -> list[Array]:
    return [
        np.concatenate([mine.weights[index] for mine in kept])[: param.size].reshape(param.shape)
        for index, param in enumerate(like)
    ]


def _held(stage: int, kept: list[_Rank], predicted: dict[str, int]) -> tuple[Held, ...]:
    strategy = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)[stage - 1]
    return held_states(kept[0].peak, predicted, memory_states(strategy, len(kept)))
