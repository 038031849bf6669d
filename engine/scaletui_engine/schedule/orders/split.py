"""One stage a rank with the backward in two halves: the frame of ZB-H1 and ZB-H2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import forward, input_grad, weight_grad

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code


def weave_split(stage: int, microbatches: int, warmup: int, delay: int) -> list[Code]:
    """`warmup` forwards; then F, I and, once `delay` of them wait, W in turn; the other W last."""
    row = [forward(stage, k) for k in range(warmup)]
    for k in range(microbatches):
        if warmup + k < microbatches:
            row.append(forward(stage, warmup + k))
        row.append(input_grad(stage, k))
        if k >= delay:
            row.append(weight_grad(stage, k - delay))
    return row + [weight_grad(stage, k) for k in range(max(0, microbatches - delay), microbatches)]
