"""V-Half and V-Min (Qi et al., arXiv:2405.15362): the slots of one microbatch decide the memory.

A building block places the F and I of both chunks; repeated every six slots, blocks of neighbouring
microbatches interlock, and W take the free slots as they come. The slots at both ends that stay free are
filled by `reorder`, and the clock then squeezes all slack out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.schedule.code import forward, input_grad, weight_grad
from scaletui_engine.schedule.orders.reorder import drained, filled
from scaletui_engine.schedule.orders.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows
    from scaletui_engine.schedule.orders.slots import Row

    Block: TypeAlias = tuple[int, int, int, int]

INTERVAL: Final = 6
"""Slots between one microbatch and the next: F, I and W of two chunks."""
MAX_PLACES: Final = 1 << 18
"""Stages x microbatches that are re-ordered: some seconds."""


def rows_half(request: Request) -> Rows:
    """Half of 1F1B's activations: (ranks + 2) // 2 microbatches. Raises ValueRangeError beyond MAX_PLACES."""
    return _rows(request, _half, (request.shape.ranks + 2) // 2)


def rows_min(request: Request) -> Rows:
    """A third of 1F1B's activations: (ranks + 4) // 3 microbatches. Raises as `rows_half`."""
    return _rows(request, _min, (request.shape.ranks + 4) // 3)


def _half(rank: int, ranks: int) -> Block:
    shift = 0 if ranks % 2 else 3
    return 2 * rank, 3 * ranks - rank - 2, 3 * ranks + shift + 2 * rank - 1, 6 * ranks + shift - rank - 2


def _min(rank: int, ranks: int) -> Block:
    shift = 0 if ranks % 3 else 2
    return rank, 2 * ranks - rank - 1, 2 * ranks + shift + rank, 4 * ranks + shift - rank - 1


def _rows(request: Request, block: Callable[[int, int], Block], most: int) -> Rows:
    """`most`: microbatches, two chunks each, that a rank may hold."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    rows = [_row(rank, ranks, microbatches, block(rank, ranks)) for rank in range(ranks)]
    if request.choices.reordered:
        _require_few(request)
        slots = Slots(rows, 2 * most)
        filled(slots)
        drained(slots, microbatches)
    return [[row[slot] for slot in sorted(row)] for row in rows]


def _require_few(request: Request) -> None:
    places = request.shape.stages * request.shape.microbatches
    if places > MAX_PLACES:
        raise ValueRangeError(
            f"{request.name} re-orders {places} places (stages x microbatches): more than {MAX_PLACES}",
            f"{MAX_PLACES // request.shape.stages} microbatches, or blocks repeated without re-ordering",
        )


def _row(rank: int, ranks: int, microbatches: int, block: Block) -> Row:
    """`block`: slots of F chunk 0, F chunk 1, I chunk 1 and I chunk 0 of microbatch 0."""
    near, far = rank, 2 * ranks - 1 - rank
    makes = ((forward, near), (forward, far), (input_grad, far), (input_grad, near))
    slots: Row = {}
    for (make, stage), start in zip(makes, block, strict=True):
        slots.update((start + INTERVAL * k, make(stage, k)) for k in range(microbatches))
    _fill(
        slots, {input_grad(stage, k): (stage, k) for stage in (near, far) for k in range(microbatches)}, far
    )
    return slots


def _fill(slots: Row, split: dict[Code, tuple[int, int]], far: int) -> None:
    """W of the far chunk first in every free slot."""
    waiting: tuple[list[Code], list[Code]] = ([], [])
    last = max(slots)
    for slot in range(last + 1):
        if slot in slots:
            if slots[slot] in split:
                stage, microbatch = split[slots[slot]]
                waiting[stage != far].append(weight_grad(stage, microbatch))
        elif waiting[0] or waiting[1]:
            slots[slot] = (waiting[0] or waiting[1]).pop(0)
    slots.update(enumerate(waiting[0] + waiting[1], last + 1))
