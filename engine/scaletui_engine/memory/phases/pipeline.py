"""What a pipeline stage keeps for its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.runtime import Framework
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Term


def torch_pipeline(contents: Contents) -> bool:
    """Whether torch.distributed.pipelining runs the stages."""
    return contents.load.plan.axes.pp > 1 and contents.load.framework in (Framework.TORCH, Framework.HF)


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
    if not torch_pipeline(contents):
        return ()
    batches, flight = contents.load.plan.accumulation, contents.in_flight
    entering = contents.stages - any(unit.name == "embedding" for unit in contents.ends)
    leaving = contents.stages - (contents.head is not None)
    whole, parts = flight.numerator, flight.denominator
    waiting = max(batches * parts - whole, 0) * entering + batches * parts * leaving
    return (
        ("buffers", "buffers.pipeline_receive", ceil_div(waiting * contents.stream, parts)),
        ("activations", "activations.stage_outputs", ceil_div(whole * leaving * contents.stream, parts)),
    )
