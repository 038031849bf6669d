"""Values that many looks share, and that a recording therefore holds once."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol


class Pool(Protocol):
    """Gives shared values numbers, and numbers their values."""

    @abstractmethod
    def number_of(self, value: object) -> int:
        """The number under which a value is kept."""

    @abstractmethod
    def value_of(self, number: int) -> object:
        """The value of that number. Raises DamageError where there is none."""
