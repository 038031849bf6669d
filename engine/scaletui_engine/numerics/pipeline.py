"""Pipeline parallelism on numpy ranks: layers in stages, every microbatch forward, then backward."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.numerics.autograd import Var, relu
from scaletui_engine.numerics.outcome import Held, Outcome, compare
from scaletui_engine.numerics.perceptron import Batch, batch, gradients, weights
from scaletui_engine.sharding.pipeline_split import uniform_split

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

WIDTHS = (12, 16, 16, 16, 16, 16, 16, 16, 8)


def pipeline(ranks: int, microbatches: int = 6) -> Outcome:
    """Eight layers on the ranks; gradients add up over microbatches. Raises DivisibilityError."""
    layers = len(WIDTHS) - 1
    if not 1 <= ranks <= layers:
        raise DivisibilityError(
            f"{layers} layers on {ranks} stages: a stage would be empty", f"{layers} stages"
        )
    bounds = uniform_split(layers, ranks)
    params, data = weights(0, WIDTHS), batch(2 * microbatches, 1, WIDTHS)
    stages = [params[2 * bounds[rank] : 2 * bounds[rank + 1]] for rank in range(ranks)]
    totals = [[np.zeros_like(param) for param in stage] for stage in stages]
    sent = [0] * ranks
    for part in range(microbatches):
        _microbatch((stages, totals, sent), data.part(2 * part, 2 * part + 2), microbatches)
    found = [grad for stage in totals for grad in stage]
    held = tuple(
        Held(f"weights of stage {rank}", sum(param.size for param in stage), _layers(bounds, rank))
        for rank, stage in enumerate(stages)
    )
    errors = compare(gradients(params, data), found)
    message = 2 * 16
    middle = microbatches * message * (2 if ranks > 2 else int(ranks > 1))
    return Outcome("pp", ranks, *errors, held, max(sent), middle)


def _layers(bounds: tuple[int, ...], rank: int) -> int:
    pairs = list(pairwise(WIDTHS))[bounds[rank] : bounds[rank + 1]]
    return sum(inside * outside + outside for inside, outside in pairs)


def _microbatch(
    held: tuple[list[list[Array]], list[list[Array]], list[int]], data: Batch, microbatches: int
) -> None:
    stages, totals, sent = held
    flowing, kept = data.x, list[tuple[Var, list[Var], Var]]()
    for rank, stage in enumerate(stages):
        x, params = Var(flowing), [Var(param) for param in stage]
        out = _stage(x, params, last=rank == len(stages) - 1)
        kept.append((x, params, out))
        flowing = out.data
        sent[rank] += flowing.size if rank < len(stages) - 1 else 0
    grad = (flowing - data.y) / len(data) / microbatches
    for rank in reversed(range(len(stages))):
        x, params, out = kept[rank]
        out.backward(grad)
        grad = x.grad
        sent[rank] += grad.size if rank else 0
        for total, var in zip(totals[rank], params, strict=True):
            total += var.grad


def _stage(x: Var, params: list[Var], *, last: bool) -> Var:
    for index in range(0, len(params), 2):
        x = x @ params[index] + params[index + 1]
        x = x if last and index + 2 == len(params) else relu(x)
    return x
