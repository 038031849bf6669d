"""What a pipeline stage keeps for its neighbours."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from scaletui_engine.runtime import Framework

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Term


def torch_pipeline(contents: Contents) -> bool:
    """Whether torch.distributed.pipelining runs the stages."""
    return contents.load.plan.axes.pp > 1 and contents.load.framework in (Framework.TORCH, Framework.HF)


def pipeline_buffers(contents: Contents) -> tuple[Term, ...]:
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
    unused = max(batches - flight, Fraction(0))
    waiting = unused * entering + batches * leaving
    return (
        ("buffers", "buffers.pipeline_receive", ceil(waiting * contents.stream)),
        ("activations", "activations.stage_outputs", ceil(flight * leaving * contents.stream)),
    )
