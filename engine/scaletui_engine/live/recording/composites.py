"""Shapes of values that are made of others: optional ones, sequences, objects, one of several classes."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from scaletui_engine.live.recording.checked import (
    is_replaced,
    items_of,
    only,
    place_of,
    so_many,
    table_of,
    text_of,
)
from scaletui_engine.live.recording.fault import DamageError
from scaletui_engine.live.recording.shapes import Leaf

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from scaletui_engine.live.recording.shapes import Shape

FURTHEST: Final = 64
"""Items that a window may have moved on by, from one look to the next, and still be told as moved."""


class Maybe:
    """A value or None."""

    def __init__(self, inner: Shape) -> None:
        self._inner = inner

    def full(self, value: Any) -> Any:
        """None is null; no inner shape has null as its full form."""
        return None if value is None else self._inner.full(value)

    def value(self, data: object) -> Any:
        """Back."""
        return None if data is None else self._inner.value(data)

    def edit(self, old: Any, new: Any) -> Any:
        """From or to None it is replaced."""
        return [self.full(new)] if old is None or new is None else self._inner.edit(old, new)

    def applied(self, old: Any, data: object) -> Any:
        """Back."""
        if is_replaced(data):
            return self.value(only(data))
        if old is None:
            raise DamageError("a change of nothing")
        return self._inner.applied(old, data)


class Many:
    """A tuple of any length; an edit is {"drop", "add"} of a window that moved, or {index: edit}."""

    def __init__(self, item: Shape) -> None:
        self._item = item

    def full(self, value: Sequence[Any]) -> list[Any]:
        """Item by item."""
        return [self._item.full(item) for item in value]

    def value(self, data: object) -> tuple[Any, ...]:
        """Item by item."""
        return tuple(self._item.value(item) for item in items_of(data))

    def edit(self, old: tuple[Any, ...], new: tuple[Any, ...]) -> Any:
        """The shortest of the three ways."""
        dropped = _moved_by(old, new)
        if dropped is not None:
            added = new[len(old) - dropped :]
            return {"drop": dropped, "add": self.full(added)}
        if len(old) != len(new):
            return [self.full(new)]
        pairs = enumerate(zip(old, new, strict=True))
        return {str(at): self._item.edit(a, b) for at, (a, b) in pairs if a is not b and a != b}

    def applied(self, old: tuple[Any, ...], data: object) -> tuple[Any, ...]:
        """Back."""
        if is_replaced(data):
            return self.value(only(data))
        edits = table_of(data, "an edit")
        if "drop" in edits:
            kept = old[place_of(edits["drop"], len(old) + 1) :]
            return tuple(items_of([*kept, *self.value(edits.get("add"))]))
        items = list(old)
        for key, edit in edits.items():
            at = place_of(int(key) if key.isdecimal() and len(key) < 8 else key, len(items))
            items[at] = self._item.applied(items[at], edit)
        return tuple(items)


class Several(Leaf):
    """A tuple of a fixed number of items, each with a shape of its own."""

    def __init__(self, items: Sequence[Shape]) -> None:
        self._items = tuple(items)

    def full(self, value: Sequence[Any]) -> list[Any]:
        """Item by item."""
        return [shape.full(item) for shape, item in zip(self._items, value, strict=True)]

    def value(self, data: object) -> tuple[Any, ...]:
        """Item by item."""
        items = so_many(data, len(self._items))
        return tuple(shape.value(item) for shape, item in zip(self._items, items, strict=True))


class OneOf(Leaf):
    """A value of one of several types: a number as it is, any other with the name of its type in front."""

    def __init__(self, kinds: Mapping[type, Shape]) -> None:
        self._kinds = dict(kinds)
        self._by_name = {kind.__name__: shape for kind, shape in kinds.items()}

    def full(self, value: Any) -> Any:
        """A number, or [type, value]."""
        return value if type(value) is int else [type(value).__name__, self._kinds[type(value)].full(value)]

    def value(self, data: object) -> Any:
        """Back."""
        if type(data) is int and int in self._kinds:
            return self._kinds[int].value(data)
        kind, value = so_many(data, 2, "a value with its type")
        shape = self._by_name.get(text_of(kind))
        if shape is None:
            raise DamageError(f"a type that is not one of {', '.join(self._by_name)}")
        return shape.value(value)


@dataclass(frozen=True, slots=True)
class Member:
    """One field of a class that the file has, and its place in the file's lists."""

    name: str
    shape: Shape
    place: int


class Thing:
    """A frozen dataclass: a list of its fields' values, or for an edit {field: edit}."""

    def __init__(self, kind: type, members: Sequence[Member], width: int) -> None:
        self._kind = kind
        self._members = tuple(members)
        self._shapes = {member.name: member.shape for member in members}
        self._width = width
        self._defaults = _defaults(kind, self._shapes.keys())

    def full(self, value: Any) -> list[Any]:
        """In the order of the fields."""
        return [member.shape.full(getattr(value, member.name)) for member in self._members]

    def value(self, data: object) -> Any:
        """An object of the class; fields that this version does not know are left out."""
        items = so_many(data, self._width, self._kind.__name__)
        found = dict(self._defaults)
        for member in self._members:
            found[member.name] = member.shape.value(items[member.place])
        return self._kind(**found)

    def edit(self, old: Any, new: Any) -> dict[str, Any]:
        """The fields that are different."""
        found: dict[str, Any] = {}
        for name, shape in self._shapes.items():
            before, after = getattr(old, name), getattr(new, name)
            if before is not after and before != after:
                found[name] = shape.edit(before, after)
        return found

    def applied(self, old: Any, data: object) -> Any:
        """A new object; what is not in the edit is the old one's."""
        if is_replaced(data):
            return self.value(only(data))
        found = {member.name: getattr(old, member.name) for member in self._members}
        found.update({name: getattr(old, name) for name in self._defaults})
        for name, edit in table_of(data, "an edit").items():
            if name in self._shapes:
                found[name] = self._shapes[name].applied(found[name], edit)
        return self._kind(**found)


def _defaults(kind: type, present: Collection[str]) -> dict[str, Any]:
    """The defaults of fields that a file does not have. Raises DamageError for one without a default."""
    found = {field.name: field.default for field in fields(kind) if field.name not in present}
    without = [name for name, default in found.items() if default is MISSING]
    if without:
        raise DamageError(f"its {kind.__name__} has no {without[0]}")
    return found


def _moved_by(old: tuple[Any, ...], new: tuple[Any, ...]) -> int | None:
    """How many items the window has left behind; None where it did not move."""
    if not old or not new:
        return 0 if not old else None
    for dropped in range(min(len(old), FURTHEST)):
        if (new[0] is old[dropped] or new[0] == old[dropped]) and new[: len(old) - dropped] == old[dropped:]:
            return dropped
    return None
