"""V-Half and V-Min (Qi et al., arXiv:2405.15362): the slots of one microbatch decide the memory.

A building block places the F and I of both chunks; repeated every six slots, blocks of neighbouring
microbatches interlock. W take the free slots as they come, and the clock then squeezes all slack out.
The paper's further re-ordering is not done: spans are upper bounds of what it reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.schedule.code import forward, input_grad, weight_grad

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows

    Block: TypeAlias = tuple[int, int, int, int]

INTERVAL: Final = 6
"""Slots between one microbatch and the next: F, I and W of two chunks."""


def rows_half(request: Request) -> Rows:
    """Half of 1F1B's activations: (ranks + 2) // 2 microbatches."""
    return _rows(request, _half)


def rows_min(request: Request) -> Rows:
    """A third of 1F1B's activations: (ranks + 4) // 3 microbatches."""
    return _rows(request, _min)


def _half(rank: int, ranks: int) -> Block:
    shift = 0 if ranks % 2 else 3
    return 2 * rank, 3 * ranks - rank - 2, 3 * ranks + shift + 2 * rank - 1, 6 * ranks + shift - rank - 2


def _min(rank: int, ranks: int) -> Block:
    shift = 0 if ranks % 3 else 2
    return rank, 2 * ranks - rank - 1, 2 * ranks + shift + rank, 4 * ranks + shift - rank - 1


def _rows(request: Request, block: Callable[[int, int], Block]) -> Rows:
    shape = request.shape
    return [
        _row(rank, shape.ranks, shape.microbatches, block(rank, shape.ranks)) for rank in range(shape.ranks)
    ]


def _row(rank: int, ranks: int, microbatches: int, block: Block) -> list[Code]:
    """`block`: slots of F chunk 0, F chunk 1, I chunk 1 and I chunk 0 of microbatch 0."""
    near, far = rank, 2 * ranks - 1 - rank
    makes = ((forward, near), (forward, far), (input_grad, far), (input_grad, near))
    slots: dict[int, Code] = {}
    for (make, stage), start in zip(makes, block, strict=True):
        slots.update((start + INTERVAL * k, make(stage, k)) for k in range(microbatches))
    return _fill(
        slots, {input_grad(stage, k): (stage, k) for stage in (near, far) for k in range(microbatches)}, far
    )


def _fill(slots: dict[int, Code], split: dict[Code, tuple[int, int]], far: int) -> list[Code]:
    """W of the far chunk first in every free slot."""
    row: list[Code] = []
    waiting: tuple[list[Code], list[Code]] = ([], [])
    for slot in range(max(slots) + 1):
        if slot in slots:
            row.append(slots[slot])
            if slots[slot] in split:
                stage, microbatch = split[slots[slot]]
                waiting[stage != far].append(weight_grad(stage, microbatch))
        elif waiting[0] or waiting[1]:
            row.append((waiting[0] or waiting[1]).pop(0))
    return row + waiting[0] + waiting[1]
