"""The paper's re-ordering of repeated building blocks (arXiv:2405.15362): idle slots at both ends are filled.

Blocks that repeat leave slots free while the pipeline fills and drains. Filling: every action moves to the
first free slot after its input, as long as its rank holds no more than the memory allows. Draining: once a
rank has started its last microbatch, whatever is ready runs at once, W last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.schedule.code import forward, input_grad, weight_grad
from scaletui_engine.schedule.orders.slots import input_of

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.slots import Slots


_FORWARD: Final = 0
_FIRST_WEIGHT_GRAD: Final = 3
"""Places of the queues of a drain."""


def filled(slots: Slots) -> None:
    """Actions in the order of their slots, each as early as it may be."""
    for code in sorted(slots.at, key=lambda code: (slots.at[code], slots.rank(code))):
        slots.pull(code)


def drained(slots: Slots, microbatches: int) -> None:
    """What follows a rank's last F of its first chunk, laid anew.

    It ends: of the oldest unfinished microbatch the next action has its input and leads its queue, and if
    that is an F there is room for it, since the rank holds first chunks of no older microbatch, which it
    also did where that F stood before.
    """
    rows = [_Drain(slots, rank, microbatches) for rank in range(len(slots.rows))]
    slot = min(row.start for row in rows)
    while any(row.left for row in rows):
        for row in rows:
            if slot >= row.start:
                row.step(slot)
        slot += 1


class _Drain:
    """One rank's queues, in the order in which they are asked; the next of each is its last."""

    def __init__(self, slots: Slots, rank: int, microbatches: int) -> None:
        near, far = rank, slots.stages - 1 - rank
        self.slots, self.row = slots, slots.rows[rank]
        self.start = slots.at[forward(near, microbatches - 1)] + 1
        self.held = int(slots.held[rank][self.start - 1])
        gone = {self.row.pop(slot) for slot in [slot for slot in self.row if slot >= self.start]}
        for code in gone:
            del slots.at[code]
        gradients = ((input_grad, near), (input_grad, far), (weight_grad, far), (weight_grad, near))
        every = [
            [make(stage, k) for k in reversed(range(microbatches))]
            for make, stage in ((forward, far), *gradients)
        ]
        self.left = len(gone)
        self.queues = [[code for code in queue if code in gone] for queue in every]

    def step(self, slot: int) -> None:
        """Run the first that is ready."""
        for place, queue in enumerate(self.queues):
            if queue and self._may_run(queue[-1], place, slot):
                code = queue.pop()
                self.row[slot] = code
                self.slots.at[code] = slot
                self.held += (place == _FORWARD) - (place >= _FIRST_WEIGHT_GRAD)
                self.left -= 1
                return

    def _may_run(self, code: Code, place: int, slot: int) -> bool:
        needed = input_of(code, self.slots.stages)
        has_input = needed is None or self.slots.at.get(needed, slot) < slot
        return has_input and (place != _FORWARD or self.held < self.slots.limit)
