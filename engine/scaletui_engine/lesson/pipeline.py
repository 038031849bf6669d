"""Pipeline parallelism: all forwards, a flush, all backwards; and the bubble under its two names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.lesson.even import share

Timeline: TypeAlias = dict[tuple[int, int, str], tuple[int, int]]
"""(stage, microbatch, "fwd" or "bwd") -> (start, end), in units of one layer."""


def simulate_pipeline_parallelism(
    num_layers: int, num_stages: int, num_microbatches: int
) -> tuple[Timeline, int, float]:
    """(timeline, total time, bubble fraction) of the lesson's pipeline.

    A backward takes as long as a forward, and layers that do not divide over the stages are dropped:
    126 layers on 16 stages run as 112. Raises ZeroDivisionError, as the lesson does, when no layer is left.
    """
    layers = num_layers // num_stages
    stages, microbatches = range(num_stages), range(num_microbatches)
    flush = (num_microbatches + num_stages - 1) * layers
    timeline: Timeline = {}
    for microbatch in microbatches:
        for stage in stages:
            start = (microbatch + stage) * layers
            timeline[stage, microbatch, "fwd"] = (start, start + layers)
    for behind, microbatch in enumerate(reversed(microbatches)):
        for above, stage in enumerate(reversed(stages)):
            start = flush + (behind + above) * layers
            timeline[stage, microbatch, "bwd"] = (start, start + layers)
    total = 2 * flush
    busy = num_microbatches * num_stages * layers * 2
    return timeline, total, 1.0 - busy / (total * num_stages)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The same pipeline with its bubble under both definitions and what it keeps alive."""

    layers_per_stage: int
    total_time: int
    """With a backward twice as long as a forward, in units of one layer's forward."""
    bubble_over_ideal: float
    """Idle time over useful time, (N-1)/M: the Megatron paper's (arXiv:2104.04473, section 2.2.1)."""
    bubble_over_makespan: float
    """Idle time over the whole step, (N-1)/(M+N-1): the share of time a GPU waits."""
    peak_gpipe: int
    """Microbatches whose activations stage 0 keeps: all of them."""
    peak_1f1b: int
    """The same under 1F1B: at most one a stage. The bubble is GPipe's."""


def corrected_pipeline(num_layers: int, num_stages: int, num_microbatches: int) -> Pipeline:
    """The pipeline of whole stages. Raises DivisibilityError where the lesson drops layers."""
    layers = share(num_layers, "layers", num_stages, "stages")
    if num_microbatches < 1:
        raise ValueRangeError(f"{num_microbatches} microbatches: at least 1 is needed")
    slots = num_microbatches + num_stages - 1
    return Pipeline(
        layers_per_stage=layers,
        total_time=3 * slots * layers,
        bubble_over_ideal=(num_stages - 1) / num_microbatches,
        bubble_over_makespan=(num_stages - 1) / slots,
        peak_gpipe=num_microbatches,
        peak_1f1b=min(num_stages, num_microbatches),
    )
