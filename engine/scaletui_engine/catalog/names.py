"""Looking names up the way people write them: case, blanks and underscores aside, and by alias."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from scaletui_engine.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def read_data(name: str) -> Any:
    """The parsed data file of that name beside this module."""
    return json.loads(files("scaletui_engine.catalog").joinpath(name).read_text("utf-8"))


def normal(name: str) -> str:
    """The form in which names are compared: "NVIDIA H100_80GB" and "nvidia-h100-80gb" are one."""
    return re.sub(r"[\s_/]+", "-", name.strip().lower())


@dataclass(frozen=True, slots=True)
class Names:
    """Ids of one kind, with the aliases that lead to them."""

    kind: str
    ids: tuple[str, ...]
    aliases: Mapping[str, str]
    """Normal form of an alias to id."""

    def find(self, name: str) -> str:
        """The id that `name` means. Raises UnknownNameError with the nearest."""
        wanted = normal(name)
        by_id = {normal(known): known for known in self.ids}
        found = by_id.get(wanted) or self.aliases.get(wanted)
        if found is None:
            raise UnknownNameError(self.kind, name, (*self.ids, *self.aliases))
        return found
