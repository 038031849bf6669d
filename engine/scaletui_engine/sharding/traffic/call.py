"""One kind of collective of a step, before a mesh says where its group lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.collectives.wire import Collective, sent_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Call:
    """The same data on its way `count` times, each time in `messages` collectives."""

    op: Collective
    payload: int
    """Bytes of one time: the whole array for AR, AG and RS, one rank's buffer for A2A, a send's message."""
    ranks: int
    count: int = 1
    what: str = ""
    """Message id of what is sent."""
    messages: int = 1
    root: bool = False
    """Whether it is of FSDP's root unit: what lies outside the layers."""

    @property
    def collectives(self) -> int:
        """Collectives in all."""
        return self.count * self.messages

    @property
    def bytes(self) -> int:
        """Payload of all of them."""
        return self.payload * self.count

    @property
    def sent(self) -> int:
        """Bytes that one GPU sends, all of them together."""
        return sent_bytes(self.op, self.payload, self.ranks) * self.count


def total_sent(calls: Iterable[Call]) -> int:
    """Bytes that one GPU sends in all calls."""
    return sum(call.sent for call in calls)
