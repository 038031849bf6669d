"""The frame of the 1F1B family: some forwards, then a forward and a backward in turn, then the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import backward, forward

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code


def weave(forwards: list[Code], backwards: list[Code], warmup: int) -> list[Code]:
    """`warmup` forwards; (forward, backward) while forwards last; the remaining backwards."""
    row = forwards[:warmup]
    for pair in zip(forwards[warmup:], backwards, strict=False):
        row += pair
    return row + backwards[len(forwards) - warmup :]


def counting(stage: int, microbatches: int) -> tuple[list[Code], list[Code]]:
    """Forwards and backwards of one stage in the order of the microbatches."""
    numbers = range(microbatches)
    return [forward(stage, k) for k in numbers], [backward(stage, k) for k in numbers]
