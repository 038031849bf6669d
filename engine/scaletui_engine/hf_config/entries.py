"""The keys of a configuration: each checked as it is read, refused under the name that the file gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ParseError, ValueRangeError
from scaletui_engine.fields import shown, value_of
from scaletui_engine.validate.numbers import check_number, largest

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELDS: Final = {
    "num_hidden_layers": "layers", "hidden_size": "hidden", "num_attention_heads": "heads",
    "num_key_value_heads": "kv_heads", "head_dim": "head_dim", "vocab_size": "vocab",
    "num_local_experts": "experts", "num_experts_per_tok": "topk", "max_position_embeddings": "seq",
    "sliding_window": "seq", "attention_chunk_size": "seq",
}  # fmt: skip
"""Key -> the field of an architecture whose largest value it shares."""
_LONGEST: Final = 60
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What a file says, what its family takes where it is silent, and the family's own spellings."""

    values: Mapping[str, object]
    defaults: Mapping[str, object]
    """Every key that the family reads beside the sizes that each file must give."""
    spellings: Mapping[str, tuple[str, ...]]
    """The names of a key in this family, the usual one first; a key that is not here has its own alone."""

    def spelled(self, key: str) -> str:
        """The key as the file writes it, else as the family usually does."""
        names = self.spellings.get(key, (key,))
        return next((name for name in names if name in self.values), names[0])

    def value(self, key: str, wanted: str = "a whole number") -> object:
        """What the file says, else the family's default. Raises ParseError where there is neither."""
        name = self.spelled(key)
        if name in self.values:
            return self.values[name]
        if key in self.defaults:
            return self.defaults[key]
        raise ParseError(f"{name} is missing: wanted {wanted}")

    def whole(self, key: str, least: int = 1) -> int:
        """A whole number from `least` to the largest that means anything.

        Raises ParseError for a missing one or another type, ValueRangeError.
        """
        found = self.whole_or_none(key, least)
        if found is None:
            raise ParseError(f"{self.spelled(key)} is null: wanted a whole number")
        return found

    def whole_or_none(self, key: str, least: int = 1) -> int | None:
        """As `whole`; None for a null."""
        value, name = self.value(key), self.spelled(key)
        if value is None:
            return None
        number: int = value_of(int, value, name)
        check_number(name, number, largest(_FIELDS.get(key, key)), least)
        return number

    def flag(self, key: str) -> bool:
        """A switch; off where it is null, or where the family has none of that name. Raises ParseError."""
        value = self.value(key, "true or false") if key in self.defaults else None
        return False if value is None else bool(value_of(bool, value, self.spelled(key)))

    def text(self, key: str) -> str:
        """A text that a line can show. Raises ParseError."""
        value, name = self.value(key, "a text"), self.spelled(key)
        if value is None:
            raise ParseError(f"{name} is null: wanted a text")
        found: str = value_of(str, value, name)
        if not found.isprintable() or len(found) > _LONGEST:
            raise ParseError(f"{name} = {shown(found)} is not a name")
        return found

    def numbers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers; empty where it is null or missing. Raises ParseError."""
        found: tuple[int, ...] | None = value_of(tuple[int, ...] | None, self.value(key), self.spelled(key))
        return found or ()

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where it is null or missing. Raises ParseError."""
        found: tuple[str, ...] | None = value_of(tuple[str, ...] | None, self.value(key), self.spelled(key))
        return found or ()

    def number(self, key: str) -> float | None:
        """A positive number, or None where there is none. Raises ParseError, ValueRangeError."""
        value, name = self.values.get(self.spelled(key)), self.spelled(key)
        if value is None:
            return None
        found: float = value_of(float, value, name)
        if found <= 0:
            raise ValueRangeError(f"{name} = {shown(value)} is not a positive number")
        return found

    def divided(self, key: str, by: str) -> int:
        """One size over another. Raises ValueRangeError where it is no whole number."""
        size, parts = self.whole(key), self.whole(by)
        if size % parts:
            raise ValueRangeError(
                f"{self.spelled(key)} {size} / {self.spelled(by)} {parts} is not a whole number"
            )
        return size // parts

    def no_more_than(self, key: str, other: str) -> int:
        """A number that another one bounds. Raises ValueRangeError."""
        number, most = self.whole(key), self.whole(other)
        if number > most:
            raise ValueRangeError(f"{self.spelled(key)} = {number} > {self.spelled(other)} = {most}")
        return number

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sizes that the file leaves out and the family has a number for: "head_dim 128"."""
        return tuple(
            f"{self.spelled(key)} {default}"
            for key, default in self.defaults.items()
            if type(default) is int and "window" not in key and self.spelled(key) not in self.values
        )
