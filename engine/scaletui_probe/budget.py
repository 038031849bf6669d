"""Keeps dear work below a share of the time that passes."""

from __future__ import annotations


class Budget:
    """Work that took t nanoseconds is due again t / share later."""

    def __init__(self, share: float) -> None:
        self.next_ns = 0
        """When the work is due, by the monotonic clock."""
        self._share = share

    def spent(self, now_ns: int, cost_ns: int) -> None:
        """Note what the work cost."""
        self.next_ns = now_ns + int(cost_ns / self._share)
