"""Finding a parameter, a layer of it, or a rank by typing: "layers.31.mlp", "rank 12345"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui.state.picking import Item, Picking
from scaletui.text.language import tr
from scaletui_engine.sharding.activations import listed
from scaletui_engine.sharding.names import Named, search, shown

if TYPE_CHECKING:
    from scaletui.state.sharding_look import Look
    from scaletui_engine.model import Tensor
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.part import Part

_RANK: Final = re.compile(r"(?:r|rank)?\s*(\d{1,9})\s*$")


@dataclass(frozen=True, slots=True)
class Finding(Picking):
    """The tensors of a part, and every rank without a list of them."""

    listed: tuple[Tensor, ...] = ()
    world: int = 1

    @property
    def found(self) -> tuple[Item, ...]:
        """The rank that was typed, then the tensors whose name holds the words."""
        if not self.query.strip() or not self.listed:
            return self.items
        words = self.query.strip()
        match = _RANK.match(words)
        rank = int(match[1]) if match else self.world
        ranks = (Item(f"rank:{rank}", tr("rank {rank}", rank=rank)),) if rank < self.world else ()
        # A number alone is a layer too, and no word of a name.
        named = search(self.listed, f".{words}" if words.isdecimal() else words)
        return (*ranks, *map(_item, named))


def finding(scenario: Scenario, part: Part) -> Finding:
    """Everything, before anything is typed."""
    every = listed(scenario, part)
    items = tuple(_item(Named(tensor)) for tensor in every)
    return Finding(items, listed=every, world=scenario.plan.axes.world)


def _item(named: Named) -> Item:
    layer = "" if named.layer is None else str(named.layer)
    shape = ", ".join(map(str, named.tensor.shape))
    return Item(f"tensor:{layer}:{named.tensor.name}", shown(named), f"[{shape}]  {named.tensor.role}")


def taken(look: Look, chosen: str) -> Look:
    """The look at what was chosen."""
    kind, _, rest = chosen.partition(":")
    if kind == "rank":
        return replace(look, rank=int(rest))
    layer, _, name = rest.partition(":")
    return replace(look.at(name), layer=int(layer) if layer else None)
