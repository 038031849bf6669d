"""Dynamic loss scaling on data-parallel ranks: one rank's overflow makes every rank skip the step.

The scale is a power of two, so scaling changes no digit; a gradient is only asked whether fp16 holds it.
Source: torch/amp/grad_scaler.py (2.13), found_inf summed over ranks before the optimizer's step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.numerics.formats import number_format
from scaletui_engine.numerics.loss_scaler import TorchScaler
from scaletui_engine.numerics.memory_states import held_states, memory_states
from scaletui_engine.numerics.outcome import Outcome, compare
from scaletui_engine.numerics.perceptron import batch, gradients, weights
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.plan import Strategy

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

STEPS, RATE = 8, 0.05
START = 2.0**20
"""Too much for the first steps' gradients in fp16: the first steps are skipped."""


def loss_scaling(ranks: int) -> Outcome:
    """Train with SGD; compare with one device that takes the ranks' shares one after the other."""
    log = WireLog(ranks)
    found, scale, skipped = _train(ranks, log)
    expected, alone, skipped_alone = _train_alone(ranks)
    numels = [param.size for param in found]
    formula = STEPS * sum(sent_bytes(Collective.ALL_REDUCE, numel, ranks) for numel in (1, *numels))
    size = sum(numels)
    counted = {"weights": size, "gradients": sum(array.size for array in found)}
    predicted = {"weights": size, "gradients": size}
    held = held_states(counted, predicted, memory_states(Strategy.DDP, ranks))
    said = [np.array([scale, skipped])], [np.array([alone, skipped_alone])]
    errors = compare([*expected, *said[1]], [*found, *said[0]])
    return Outcome("loss-scaling", ranks, *errors, held, log.sent, formula)


def _train(ranks: int, log: WireLog) -> tuple[list[Array], float, int]:
    """All ranks side by side: (weights, scale at the end, steps skipped)."""
    params, scaler, skipped = weights(), TorchScaler(START, growth_interval=3), 0
    for step in range(STEPS):
        data = batch(2 * ranks, seed=step)
        scaled = [
            [grad * scaler.scale for grad in gradients(params, data.part(2 * rank, 2 * rank + 2))]
            for rank in range(ranks)
        ]
        found = sum(not _fits(grads) for grads in scaled)
        for size in (1, *(param.size for param in params)):
            log.record(Collective.ALL_REDUCE, size)
        if not found:
            means = [np.sum(each, axis=0) / ranks / scaler.scale for each in zip(*scaled, strict=True)]
            params = [param - RATE * mean for param, mean in zip(params, means, strict=True)]
        skipped += found > 0
        scaler = scaler.update(found > 0)
    return params, scaler.scale, skipped


def _train_alone(shares: int) -> tuple[list[Array], float, int]:
    """One device: the whole batch for the gradient, the shares one by one for what fp16 holds."""
    params, scaler, skipped = weights(), TorchScaler(START, growth_interval=3), 0
    for step in range(STEPS):
        data = batch(2 * shares, seed=step)
        parts = (data.part(2 * share, 2 * share + 2) for share in range(shares))
        fits = all(_fits([grad * scaler.scale for grad in gradients(params, part)]) for part in parts)
        if fits:
            whole = gradients(params, data)
            params = [param - RATE * grad for param, grad in zip(params, whole, strict=True)]
        skipped += not fits
        scaler = scaler.update(not fits)
    return params, scaler.scale, skipped


def _fits(grads: list[Array]) -> bool:
    return all(bool(np.isfinite(number_format("float16").cast(grad)).all()) for grad in grads)
