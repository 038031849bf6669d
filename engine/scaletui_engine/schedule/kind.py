"""What an action does, as a small integer that arrays can hold, and its letter in PyTorch's notation."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Kind(IntEnum):
    """The kinds of action of PyTorch's schedule notation (torch/distributed/pipelining/schedules.py)."""

    FORWARD = 0
    """F: the forward pass of one microbatch through one stage."""
    INPUT_GRAD = 1
    """I: the gradient of the stage's input, which the stage before waits for."""
    WEIGHT_GRAD = 2
    """W: the gradient of the stage's weights, which nobody waits for."""
    BACKWARD = 3
    """B: input and weight gradient in one."""
    SEND_F = 4
    """The activation leaves, named after the sending stage."""
    RECV_F = 5
    """The activation arrives, named after the receiving stage."""
    SEND_B = 6
    """The gradient leaves, named after the sending stage."""
    RECV_B = 7
    """The gradient arrives, named after the receiving stage."""
    UNSHARD = 8
    """A stage's weights are gathered (FSDP)."""
    RESHARD = 9
    """A stage's gathered weights are freed (FSDP)."""
    REDUCE_GRAD = 10
    """A stage's gradients are reduced, once for all microbatches."""

    @property
    def letter(self) -> str:
        """How PyTorch writes it: "F", "I", "W", "B", "SEND_F", ..."""
        return _LETTERS[self]

    @property
    def computes(self) -> bool:
        """Whether it is one of F, I, W and B."""
        return self <= Kind.BACKWARD


_LETTERS: Final = (
    "F", "I", "W", "B", "SEND_F", "RECV_F", "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD",
)  # fmt: skip

COMPUTE: Final = (Kind.FORWARD, Kind.INPUT_GRAD, Kind.WEIGHT_GRAD, Kind.BACKWARD)
"""The kinds that take a rank's time."""
KIND_OF_LETTER: Final = {kind.letter: kind for kind in Kind}
"""From PyTorch's letter to the kind."""
