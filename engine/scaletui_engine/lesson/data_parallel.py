"""Data parallelism: shards of a batch, one gradient each, and their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]
    ModelFn: TypeAlias = Callable[[Array], tuple[np.float64, Array]]
    """Batch (samples, features) -> (loss, gradient)."""


def shard_sizes(samples: int, num_gpus: int) -> list[int]:
    """Samples of each GPU: as even as they can be, the first GPUs holding one more."""
    each, rest = divmod(samples, num_gpus)
    return [each + (gpu < rest) for gpu in range(num_gpus)]


def simulate_data_parallelism(data: Array, num_gpus: int, model_fn: ModelFn) -> tuple[np.float64, Array]:
    """(loss, gradient) as the lesson averages them: every shard counts the same, however many samples it has.

    With more GPUs than samples some shards are empty, and the result is NaN, as in the lesson.
    """
    import numpy as np

    losses, gradients = _run_shards(data, num_gpus, model_fn)
    return np.float64(np.mean(losses)), np.asarray(np.mean(gradients, axis=0))


def weighted_data_parallelism(data: Array, num_gpus: int, model_fn: ModelFn) -> tuple[np.float64, Array]:
    """(loss, gradient) equal to one device's over the whole batch: each shard weighs its samples.

    Raises ValueRangeError when a GPU would get no sample.
    """
    import numpy as np

    if num_gpus > len(data):
        idle = num_gpus - len(data)
        raise ValueRangeError(
            f"{len(data)} samples on {num_gpus} GPUs leave {idle} without a sample", f"{len(data)} GPUs"
        )
    losses, gradients = _run_shards(data, num_gpus, model_fn)
    share = np.asarray(shard_sizes(len(data), num_gpus)) / len(data)
    return np.float64(share @ np.asarray(losses)), np.tensordot(share, np.asarray(gradients), axes=1)


def _run_shards(data: Array, num_gpus: int, model_fn: ModelFn) -> tuple[list[np.float64], list[Array]]:
    losses: list[np.float64] = []
    gradients: list[Array] = []
    start = 0
    for size in shard_sizes(len(data), num_gpus):
        loss, gradient = model_fn(data[start : start + size])
        losses.append(loss)
        gradients.append(gradient)
        start += size
    return losses, gradients


def lesson_model(weight: Array) -> ModelFn:
    """The lesson's linear model: loss is the mean of output^2 over batch *and* outputs, but the gradient
    divides by the batch alone, so it is d_out times the loss's own."""
    import numpy as np

    def model_fn(batch: Array) -> tuple[np.float64, Array]:
        output = batch @ weight
        return np.float64(np.mean(output**2)), 2 * batch.T @ output / len(batch)

    return model_fn


def corrected_model(weight: Array) -> ModelFn:
    """The same model with the gradient of its own loss: d mean(output^2) / d weight."""
    import numpy as np

    def model_fn(batch: Array) -> tuple[np.float64, Array]:
        output = batch @ weight
        return np.float64(np.mean(output**2)), 2 * batch.T @ output / output.size

    return model_fn
