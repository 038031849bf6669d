"""The words on a tile: whose it is, where those ranks stand on the mesh, how many hold the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.cells import width_of
from scaletui_engine.sharding.tensor_map import JOINT

if TYPE_CHECKING:
    from scaletui.state.sharding_picture import Picture, Spot
    from scaletui.state.sharding_sight import Sight
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.holders import Holders

AXES: Final = {
    "dp_shard_cp": "dp", "dp_shard": "dp", "dp_replicate": "rep", "tp_copy": "copy", "efsdp": "edp",
}  # fmt: skip
"""Axis -> the short name of it."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What all tiles of a picture have in common."""

    sight: Sight
    picture: Picture
    room: int
    """Cells for the words of a tile."""
    pen: Pen

    @property
    def is_sum(self) -> bool:
        """Whether the tiles hold terms of a sum that is not reduced yet."""
        return self.sight.view.map.layout.partials > 1


def owner_text(drawing: Drawing, spot: Spot) -> str:
    """Rank, how many hold the same, and where: "r0 x4  tp 0 dp 0"; shorter where there is no room."""
    sight, ellipsis = drawing.sight, drawing.pen.glyphs.ellipsis
    held, last = drawing.picture.holders(spot), _last(drawing.picture, spot)
    first, final = sight.first(held), sight.first(last)
    if held is None or first is None:
        return ""
    where = places_text(held, last, drawing.picture, ellipsis)
    if last is None or final is None or final == first:
        name = f"r{first}{_more(drawing, held)}"
    else:
        ends = (_coordinates(held, drawing.picture), _coordinates(last, drawing.picture))
        name = several_text(first, final, ends)
    for text in (f"{name}  {where}" if where else name, name):
        if width_of(text) <= drawing.room:
            return text
    return f"r{first}"


def several_text(first: int, final: int, ends: tuple[dict[str, int], dict[str, int]]) -> str:
    """The ranks of a tile that stands for several: two by name, a range only where they follow each other."""
    low, high = ends
    differ = [axis for axis in low if low[axis] != high.get(axis)]
    if len(differ) != 1 or differ[0] not in high:
        return tr("r{rank} and more", rank=first)
    count = abs(high[differ[0]] - low[differ[0]]) + 1
    if count == 2:
        return f"r{first}, r{final}"
    if final - first + 1 == count:
        return f"r{first}-{final}"
    return tr("r{rank} +{n} more", rank=first, n=count - 1)


def _more(drawing: Drawing, held: Holders) -> str:
    """How many ranks hold the same values, or other terms of the same sum."""
    if held.count == 1:
        return ""
    glyphs = drawing.pen.glyphs
    return f" {glyphs.partial}{held.count - 1}" if drawing.is_sum else f" {glyphs.times}{held.count}"


def _last(picture: Picture, spot: Spot) -> Holders | None:
    """The owner at the other end of a tile that stands for several."""
    if picture.rows[spot[0]].last is None and picture.columns[spot[1]].last is None:
        return None
    return picture.holders(spot, last=True)


def places_text(held: Holders, last: Holders | None, picture: Picture, ellipsis: str) -> str:
    """The coordinates that the ranks share: "tp 0 dp 0-34" where a tile stands for several."""
    low, high = _coordinates(held, picture), _coordinates(last or held, picture)
    differ = [axis for axis in low if low[axis] != high.get(axis)]
    if len(differ) < 2:
        ends = {axis: f"-{high[axis]}" for axis in differ if axis in high}
        return " ".join(f"{axis} {place}{ends.get(axis, '')}" for axis, place in low.items())
    first, final = (" ".join(f"{axis} {place}" for axis, place in each.items()) for each in (low, high))
    return f"{first}{ellipsis}{final}"


def _coordinates(held: Holders, picture: Picture) -> dict[str, int]:
    """Fastest axis first, as ranks are counted; those that all tiles of the picture share are left out."""
    inner = held.inner
    triples = zip(inner.mesh.axes, inner.fixed, picture.others.fixed, strict=True)
    fixed = ((axis.name, at) for axis, at, common in triples if at is not None and common is None)
    found: dict[str, int] = {}
    for name, at in fixed:
        if name == JOINT:
            found["dp"], found["tp"] = divmod(at, picture.view.scenario.plan.axes.tp)
        else:
            found[AXES.get(name, name)] = at
    if held.lane is not None:
        found["dp"] = held.lane[0]
    return dict(reversed(found.items()))
