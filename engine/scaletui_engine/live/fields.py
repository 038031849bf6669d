"""Unpacked fields by name: numbers as `int`, bytes as `bytes`, texts as text that is safe to print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.live.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scaletui_probe.layout import Field


def index_of(fields: Sequence[Field]) -> dict[str, int]:
    """Where each field's value stands in what `struct` unpacks."""
    return {field.name: index for index, field in enumerate(fields)}


class Fields:
    """The values of one header or record. Asking for the wrong type of a field is a mistake in the caller."""

    __slots__ = ("_index", "values")

    def __init__(self, index: Mapping[str, int], values: tuple[int | bytes, ...]) -> None:
        self._index = index
        self.values = values

    def number(self, name: str) -> int:
        """A whole number."""
        value = self.values[self._index[name]]
        assert isinstance(value, int), f"{name} is not a number"
        return value

    def raw(self, name: str) -> bytes:
        """Bytes as they are."""
        value = self.values[self._index[name]]
        assert isinstance(value, bytes), f"{name} is not bytes"
        return value

    def text(self, name: str) -> str:
        """Text up to the first zero."""
        return clean(self.raw(name))
