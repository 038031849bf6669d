"""What a pipeline stage keeps for its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.contents import beside
from scaletui_engine.memory.loss import logits_bytes, waiting_bytes
from scaletui_engine.memory.phases.common import head_entry
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from fractions import Fraction

    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Term


ALL_FORWARD: Final = ("gpipe", "GPipe", "looped-bfs", "LoopedBFS")
"""Schedules that run every forward pass, losses included, before the first backward pass."""
WAITING: Final = ("activations.waiting_heads", "loss.waiting")


def heads_held(contents: Contents) -> int:
    """Other microbatches whose loss is known while the last one's is computed, on the rank that does so.

    torch computes each loss behind its forward pass (torch/distributed/pipelining/schedules.py,
    `_maybe_compute_loss` in ScheduleGPipe), and autograd keeps what its backward pass needs.
    """
    plan = contents.load.plan
    waits = contents.head is not None and plan.axes.pp > 1 and plan.schedule in ALL_FORWARD
    return max(plan.accumulation - 1, 0) if waits else 0


def waiting_heads(contents: Contents, count: int) -> tuple[Term, ...]:
    """What the last norm, the output projection and the loss keep of so many microbatches."""
    if not count:
        return ()
    entry = sum(size for _, _, size in head_entry(contents))
    return (
        ("activations", WAITING[0], entry * count),
        ("loss", WAITING[1], waiting_bytes(contents.load) * count),
    )


def in_flight_terms(contents: Contents) -> tuple[Term, ...]:
    """What a rank's place in the pipeline adds to every moment but the step: microbatches beside its own."""
    if contents.load.plan.axes.pp == 1:
        return ()
    others = ("activations", "activations.in_flight", contents.in_flight_bytes)
    return (others, *receive_buffers(contents))


def receive_buffers(contents: Contents) -> tuple[Term, ...]:
    """Receive buffers for every microbatch, and outputs that wait for their backward pass.

    torch allocates a buffer for each microbatch's input and output gradient before the first step; a
    microbatch in flight uses its input buffer as the first layer's input, which is counted there. Source:
    torch/distributed/pipelining/stage.py, `_setup_forward_recv_info` and `_create_grad_recv_info`.
    """
    if not contents.torch_pipeline:
        return ()
    waiting, outputs = neighbours_of(contents).exchanged(contents.in_flight)
    return (
        ("buffers", "buffers.pipeline_receive", waiting),
        ("activations", "activations.stage_outputs", outputs),
    )


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What decides how much a rank's place in the pipeline adds."""

    alone: bool
    """There is no pipeline."""
    kept: int
    """Activations of one microbatch."""
    stream: int
    """Bytes of one tensor that travels."""
    batches: int
    entering: int
    """Stages of the rank that receive their input."""
    leaving: int
    """Stages that send their output on."""
    preallocated: bool
    """torch's receive buffers are there from the first step on."""
    returned: int
    """Bytes of the logits that are kept for the step to return."""

    def added(self, flight: Fraction) -> tuple[int, int]:
        """(activations, buffers) of `in_flight_terms` with so many microbatches in flight."""
        if self.alone:
            return (0, 0)
        others = beside(self.kept, flight)
        if not self.preallocated:
            return (others, 0)
        waiting, outputs = self.exchanged(flight)
        return (others + outputs, waiting)

    def exchanged(self, flight: Fraction) -> tuple[int, int]:
        """Bytes of receive buffers that no microbatch in flight uses, and of stage outputs."""
        whole, parts = flight.numerator, flight.denominator
        every = self.batches * parts
        waiting = max(every - whole, 0) * self.entering + every * self.leaving
        outputs = ceil_div(whole * self.leaving * self.stream, parts) + self.returned
        return (ceil_div(waiting * self.stream, parts), outputs)


def neighbours_of(contents: Contents) -> Neighbours:
    """The same for every rank that holds equal stages."""
    plan, (_, _, stages, embedding, head) = contents.load.plan, contents.shape
    return Neighbours(
        plan.axes.pp == 1, contents.kept, contents.stream, plan.accumulation, stages - embedding,
        stages - head, contents.torch_pipeline, _returned(contents),
    )  # fmt: skip


def _returned(contents: Contents) -> int:
    """torch/distributed/pipelining/stage.py, `output_chunks`: all of a step's, in the compute type."""
    load = contents.load
    kept = contents.head is not None and load.plan.runtime.return_outputs
    return logits_bytes(load) * load.plan.accumulation if kept else 0
