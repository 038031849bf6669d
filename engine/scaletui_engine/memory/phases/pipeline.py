"""What a pipeline stage keeps for its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.contents import beside
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from fractions import Fraction

    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Term


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
    waiting, outputs = _exchanged(contents, contents.in_flight)
    return (
        ("buffers", "buffers.pipeline_receive", waiting),
        ("activations", "activations.stage_outputs", outputs),
    )


def added_bytes(contents: Contents, flight: Fraction) -> tuple[int, int]:
    """(activations, buffers) of `in_flight_terms` for a rank with so many in flight, without the terms."""
    if contents.load.plan.axes.pp == 1:
        return (0, 0)
    others = beside(contents.kept, flight)
    if not contents.torch_pipeline:
        return (others, 0)
    waiting, outputs = _exchanged(contents, flight)
    return (others + outputs, waiting)


def _exchanged(contents: Contents, flight: Fraction) -> tuple[int, int]:
    """Bytes of receive buffers that no microbatch in flight uses, and of stage outputs."""
    batches, stream = contents.load.plan.accumulation, contents.stream
    _, _, stages, embedding, head = contents.shape
    entering, leaving = stages - embedding, stages - head
    whole, parts = flight.numerator, flight.denominator
    waiting = max(batches * parts - whole, 0) * entering + batches * parts * leaving
    return (ceil_div(waiting * stream, parts), ceil_div(whole * leaving * stream, parts))
