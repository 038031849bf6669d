"""Choosing one of many by typing a few letters: models, commands, themes."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be chosen."""

    id: str
    title: str
    hint: str = ""
    """What stands beside the title; searched as well."""


@dataclass(frozen=True, slots=True)
class Picking:
    """A list, what was typed to narrow it, and the place in what is left."""

    items: tuple[Item, ...]
    query: str = ""
    place: int = 0

    @property
    def found(self) -> tuple[Item, ...]:
        """The items that hold every word of the query, those whose title starts with it first."""
        words = self.query.lower().split()
        hits = [item for item in self.items if all(word in _searched(item) for word in words)]
        first = words[0] if words else ""
        return tuple(sorted(hits, key=lambda item: not item.title.lower().startswith(first)))

    @property
    def chosen(self) -> Item | None:
        """The item under the cursor; None where nothing was found."""
        found = self.found
        return found[min(self.place, len(found) - 1)] if found else None


def _searched(item: Item) -> str:
    return f"{item.title} {item.hint} {item.id}".lower()


def typed(picking: Picking, text: str) -> Picking:
    """A longer query; the cursor goes to the best hit."""
    kept = "".join(character for character in text if character.isprintable())
    return replace(picking, query=picking.query + kept, place=0)


def erased(picking: Picking) -> Picking:
    """A shorter query."""
    return replace(picking, query=picking.query[:-1], place=0)


def moved(picking: Picking, steps: int) -> Picking:
    """The cursor further down or up; the list ends at its ends."""
    last = max(len(picking.found) - 1, 0)
    return replace(picking, place=min(max(picking.place + steps, 0), last))


def placed(picking: Picking, item_id: str) -> Picking:
    """The cursor on an item, where it is in the list."""
    ids = [item.id for item in picking.found]
    return replace(picking, place=ids.index(item_id) if item_id in ids else 0)
