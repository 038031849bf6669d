"""The lesson's five demonstrations on the lesson's own seed, each row with its corrected figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.lesson.data_parallel import (
    corrected_model,
    lesson_model,
    simulate_data_parallelism,
    weighted_data_parallelism,
)
from scaletui_engine.lesson.memory import LessonMemory, memory_calculator
from scaletui_engine.lesson.pipeline import Pipeline, corrected_pipeline, simulate_pipeline_parallelism
from scaletui_engine.lesson.precision import (
    PrecisionTotals,
    Recipes,
    corrected_precision,
    mixed_precision_comparison,
)
from scaletui_engine.lesson.tensor_parallel import row_parallel, simulate_tensor_parallelism
from scaletui_engine.memory import evaluate
from scaletui_engine.plan import Strategy

if TYPE_CHECKING:
    import numpy as np

    from scaletui_engine.memory.budget import MemoryBudget

SEED: Final = 42
GPUS: Final = (1, 2, 4, 8)
LAYERS, STAGES = 32, 4
MICROBATCHES: Final = (1, 4, 8, 16, 32)
MEMORY: Final = (
    (7, "none", 1), (7, "fsdp", 8), (70, "none", 1), (70, "fsdp", 8), (70, "fsdp", 16),
    (405, "fsdp", 64), (405, "fsdp", 128),
)  # fmt: skip
SIZES: Final = (7, 13, 70, 405)
REAL_MODELS: Final = {7: "llama2-7b", 70: "llama3-70b", 405: "llama3.1-405b"}
"""What the lesson's round sizes stand for."""
REAL_GPU: Final = "h100-sxm"
LESSON_SEQ: Final = 2048


@dataclass(frozen=True, slots=True)
class DataParallelRow:
    """Loss and gradient norm over so many GPUs."""

    gpus: int
    loss: float
    grad_norm: float
    corrected_grad_norm: float
    """Of the loss's own gradient, shards weighed by their samples."""


@dataclass(frozen=True, slots=True)
class TensorParallelRow:
    """Largest error of the split product."""

    gpus: int
    output_shape: tuple[int, ...]
    max_error: float
    row_max_error: float
    """Of the row half, whose partial sums an all-reduce adds up."""


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """Time and bubble of so many microbatches."""

    microbatches: int
    total_time: int
    bubble: float
    corrected: Pipeline


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """Memory of one GPU."""

    params_billions: int
    lesson: LessonMemory
    model: str
    budget: MemoryBudget
    """Of the real model of that size, one sequence of 2048 tokens, bf16-mixed with AdamW."""


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """Totals of one model size."""

    params_billions: int
    lesson: PrecisionTotals
    corrected: Recipes


def _random() -> np.random.RandomState:
    import numpy as np

    return np.random.RandomState(SEED)


def data_parallel_table() -> tuple[DataParallelRow, ...]:
    """64 samples of 32 features through a (32, 16) matrix."""
    import numpy as np

    random = _random()
    data, weight = random.randn(64, 32), random.randn(32, 16)
    rows: list[DataParallelRow] = []
    for gpus in GPUS:
        loss, gradient = simulate_data_parallelism(data, gpus, lesson_model(weight))
        _, corrected = weighted_data_parallelism(data, gpus, corrected_model(weight))
        norms = float(np.linalg.norm(gradient)), float(np.linalg.norm(corrected))
        rows.append(DataParallelRow(gpus, float(loss), *norms))
    return tuple(rows)


def uneven_shards_error() -> float:
    """How far off the lesson's gradient is for 10 samples on 7 GPUs, relative to the whole batch's."""
    import numpy as np

    random = _random()
    data, model = random.randn(10, 4), lesson_model(random.randn(4, 3))
    whole = model(data)[1]
    gradient = simulate_data_parallelism(data, 7, model)[1]
    return float(np.linalg.norm(gradient - whole) / np.linalg.norm(whole))


@cache
def tensor_parallel_table() -> tuple[TensorParallelRow, ...]:
    """A (4, 8192) x (8192, 8192) product; half a gigabyte of random numbers, drawn once."""
    random = _random()
    random.randn(64 * 32 + 32 * 16)  # the data-parallel table's draws come first in the lesson
    x, matrix = random.randn(4, 8192), random.randn(8192, 8192)
    rows: list[TensorParallelRow] = []
    for gpus in GPUS:
        output, error = simulate_tensor_parallelism(x, matrix, gpus)
        _, row_error = row_parallel(x, matrix, gpus)
        rows.append(TensorParallelRow(gpus, output.shape, float(error), float(row_error)))
    return tuple(rows)


def pipeline_table() -> tuple[PipelineRow, ...]:
    """32 layers on 4 stages."""
    rows: list[PipelineRow] = []
    for microbatches in MICROBATCHES:
        _, total, bubble = simulate_pipeline_parallelism(LAYERS, STAGES, microbatches)
        rows.append(
            PipelineRow(microbatches, total, bubble, corrected_pipeline(LAYERS, STAGES, microbatches))
        )
    return tuple(rows)


def memory_table() -> tuple[MemoryRow, ...]:
    """The lesson's seven plans beside the budget of the real model on H100s."""
    return tuple(
        MemoryRow(size, memory_calculator(size, num_gpus=gpus, sharding=sharding), REAL_MODELS[size], budget)
        for size, sharding, gpus in MEMORY
        for budget in (_real_budget(size, sharding, gpus),)
    )


def _real_budget(size: int, sharding: str, gpus: int) -> MemoryBudget:
    strategy = Strategy.DDP if sharding == "none" else Strategy(sharding)
    return evaluate(
        scenario_from(Choices(REAL_MODELS[size], REAL_GPU, gpus, strategy=strategy, seq=LESSON_SEQ))
    )


def precision_table() -> tuple[PrecisionRow, ...]:
    """Four model sizes."""
    return tuple(
        PrecisionRow(size, mixed_precision_comparison(size), corrected_precision(size)) for size in SIZES
    )
