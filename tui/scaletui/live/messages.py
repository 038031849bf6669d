"""What the live worker tells the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import Snapshot


class SnapshotArrived(Message):
    """A new look at every job; of several that wait, only the newest is handled."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot

    def can_replace(self, message: Message) -> bool:
        """Whether this one makes the other, which waits, superfluous."""
        return isinstance(message, SnapshotArrived)
