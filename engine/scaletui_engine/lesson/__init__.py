"""The course lesson's five calculators under the lesson's own names, number for number.

The lesson is "Scaling: Distributed Training, FSDP, DeepSpeed" of the course AI Engineering from Scratch
(github.com/rohitg00/ai-engineering-from-scratch, phases/10-llms-from-scratch/05-scaling-distributed). In each
calculator's module stands the corrected calculation too; `tables` lays the two side by side.
"""

from __future__ import annotations

from scaletui_engine.lesson.data_parallel import simulate_data_parallelism
from scaletui_engine.lesson.memory import memory_calculator
from scaletui_engine.lesson.pipeline import simulate_pipeline_parallelism
from scaletui_engine.lesson.precision import mixed_precision_comparison
from scaletui_engine.lesson.tensor_parallel import simulate_tensor_parallelism

__all__ = [
    "memory_calculator",
    "mixed_precision_comparison",
    "simulate_data_parallelism",
    "simulate_pipeline_parallelism",
    "simulate_tensor_parallelism",
]
