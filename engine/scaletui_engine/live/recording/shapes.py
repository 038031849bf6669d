"""How a value becomes JSON and comes back: one shape for each kind of type, each checked on the way in.

`full` and `value` are each other's inverse. `edit` tells a value by the one before it, and `applied` is the
inverse of that: an edit is the full form in a list of its own, or an object that says what is different.
Every `value` and `applied` raises DamageError for what no `full` or `edit` can have made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, Protocol

from scaletui_engine.live.recording.checked import only, shown, table_of, text_of
from scaletui_engine.live.recording.fault import DamageError
from scaletui_engine.live.text import safe

if TYPE_CHECKING:
    from enum import Enum

    from scaletui_engine.live.recording.pool import Pool

LOWEST: Final = -(1 << 63)
HIGHEST: Final = (1 << 64) - 1
LARGEST: Final = 1.7e308


class Shape(Protocol):
    """The JSON of one type."""

    @abstractmethod
    def full(self, value: Any) -> Any:
        """All of it."""

    @abstractmethod
    def value(self, data: object) -> Any:
        """Back from `full`."""

    @abstractmethod
    def edit(self, old: Any, new: Any) -> Any:
        """What is different; the two are not equal."""

    @abstractmethod
    def applied(self, old: Any, data: object) -> Any:
        """Back from `edit`."""


class Leaf(ABC):
    """A value that is replaced and never changed in part."""

    def full(self, value: Any) -> Any:
        """As JSON has it."""
        return value

    @abstractmethod
    def value(self, data: object) -> Any:
        """Checked by the kind of leaf."""

    def edit(self, old: Any, new: Any) -> Any:
        """The new one."""
        del old
        return [self.full(new)]

    def applied(self, old: Any, data: object) -> Any:
        """The new one."""
        del old
        return self.value(only(data))


class Whole(Leaf):
    """A whole number of 64 bits."""

    def value(self, data: object) -> int:
        """As it is."""
        if type(data) is not int or not LOWEST <= data <= HIGHEST:
            raise DamageError(f"{shown(data)} is not a number of 64 bits")
        return data


class Real(Leaf):
    """A finite number."""

    def value(self, data: object) -> float:
        """As it is."""
        if isinstance(data, bool) or not isinstance(data, (int, float)) or not -LARGEST < data < LARGEST:
            raise DamageError(f"{shown(data)} is not a finite number")
        return float(data)


class Flag(Leaf):
    """True or false."""

    def value(self, data: object) -> bool:
        """As it is."""
        if type(data) is not bool:
            raise DamageError(f"{shown(data)} is not true or false")
        return data


class Text(Leaf):
    """Text that is safe to print."""

    def value(self, data: object) -> str:
        """With everything that could steer a terminal replaced."""
        return safe(text_of(data))


class Octets(Leaf):
    """Bytes, as the hexadecimal digits of them."""

    def full(self, value: bytes) -> str:
        """Two digits a byte."""
        return value.hex()

    def value(self, data: object) -> bytes:
        """Back from the digits."""
        try:
            return bytes.fromhex(text_of(data, "bytes"))
        except ValueError as error:
            raise DamageError(f"{shown(data)} is not bytes") from error


class Choice(Leaf):
    """A member of an enumeration, by its value."""

    def __init__(self, kind: type[Enum]) -> None:
        self._kind = kind
        self._members = {member.value: member for member in kind}

    def full(self, value: Enum) -> object:
        """The member's value."""
        return value.value

    def value(self, data: object) -> Enum:
        """The member."""
        if type(data) not in (int, str) or data not in self._members:
            raise DamageError(f"{shown(data)} is no {self._kind.__name__}")
        return self._members[data]


class Document(Leaf):
    """Any JSON, as an object that somebody else has checked or will."""

    def value(self, data: object) -> dict[str, object]:
        """As it is."""
        return table_of(data)


class Shared(Leaf):
    """A value that the pool keeps; what stands for it is its number."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def full(self, value: object) -> int:
        """Its number."""
        return self._pool.number_of(value)

    def value(self, data: object) -> object:
        """The value of the number."""
        if type(data) is not int:
            raise DamageError(f"{shown(data)} is not a number")
        return self._pool.value_of(data)
