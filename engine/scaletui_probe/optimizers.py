"""The optimizers of a process and the number of the training step.

A process may have several: two that step once each in every training step (Muon beside AdamW), one per
parameter, or a discriminator's that steps more often. The step is that of the optimizer that has stepped
most often; the first to reach a number begins that step, and the others are part of it.
"""

from __future__ import annotations

import weakref
from typing import Any


class Optimizers:
    """Every optimizer that has stepped, weakly held, with its count."""

    def __init__(self) -> None:
        self.step = 0
        self._counts: dict[int, int] = {}
        self._references: dict[int, weakref.ref[Any]] = {}

    @property
    def number(self) -> int:
        """How many have stepped and are alive."""
        return len(self._references)

    def leads(self, optimizer: Any) -> bool:
        """Whether the next step of this optimizer is a new training step."""
        return self._counts.get(id(optimizer), 0) == self.step

    def stepped(self, optimizer: Any) -> bool:
        """Count a step; whether it was a new training step."""
        key = id(optimizer)
        count = self._counts.get(key, 0) + 1
        if count == 1:
            self._references[key] = weakref.ref(optimizer, lambda _reference: self._forget(key))
        self._counts[key] = count
        if count <= self.step:
            return False
        self.step += 1
        return True

    def steps_of(self, optimizer: Any) -> int:
        """How often this optimizer has stepped."""
        return self._counts.get(id(optimizer), 0)

    def _forget(self, key: int) -> None:
        self._references.pop(key, None)
        self._counts.pop(key, None)

    def alive(self) -> list[Any]:
        """The optimizers in the order of their first step."""
        found = [reference() for reference in list(self._references.values())]
        return [optimizer for optimizer in found if optimizer is not None]
