"""Tensor parallelism: one matrix split by columns (the lesson) and by rows (the half it leaves out)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.lesson.even import share

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]


class UnevenColumnsError(DivisibilityError, AssertionError):
    """Columns that do not divide over the GPUs: an AssertionError too, as the lesson raises one."""


def simulate_tensor_parallelism(
    input_data: Array, weight_matrix: Array, num_gpus: int
) -> tuple[Array, np.float64]:
    """(output, largest error) of a column-parallel product (m, d_in) x (d_in, d_out), concatenated.

    Raises UnevenColumnsError, in the lesson's words, when num_gpus does not divide d_out.
    """
    import numpy as np

    d_out = weight_matrix.shape[1]
    if d_out % num_gpus:
        raise UnevenColumnsError(f"d_out {d_out} not divisible by num_gpus {num_gpus}")
    size = d_out // num_gpus
    parts = [input_data @ weight_matrix[:, start : start + size] for start in range(0, d_out, size)]
    output = np.concatenate(parts, axis=-1)
    return output, np.abs(output - input_data @ weight_matrix).max()


def row_parallel(input_data: Array, weight_matrix: Array, num_gpus: int) -> tuple[Array, np.float64]:
    """(output, largest error) of the product split along d_in: partial sums that one all-reduce adds up.

    A column-parallel layer followed by a row-parallel one needs this all-reduce and no other in the forward
    pass (Megatron-LM, arXiv:1909.08053, section 3). Raises DivisibilityError when num_gpus does not divide
    d_in and d_out.
    """
    import numpy as np

    d_in, d_out = weight_matrix.shape
    share(d_out, "columns", num_gpus, "GPUs")
    size = share(d_in, "rows", num_gpus, "GPUs")
    output = np.zeros((input_data.shape[0], d_out))
    for start in range(0, d_in, size):
        output += input_data[:, start : start + size] @ weight_matrix[start : start + size]
    return output, np.abs(output - input_data @ weight_matrix).max()
