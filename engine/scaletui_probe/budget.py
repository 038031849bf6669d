"""Keeps dear work below a share of the time that passes."""

from __future__ import annotations


class Budget:
    """Work that took t nanoseconds is due again t / share later."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._next_ns = 0

    def due(self, now_ns: int) -> bool:
        """Whether the work may be done now."""
        return now_ns >= self._next_ns

    def spent(self, now_ns: int, cost_ns: int) -> None:
        """Note what the work cost."""
        self._next_ns = now_ns + int(cost_ns / self._share)
