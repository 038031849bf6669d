"""ZeRO-3 as DeepSpeed runs it: as many parameters stay whole as stage3_max_live_parameters allows.

Source: DeepSpeed runtime/zero/partitioned_param_coordinator.py; a layer is released once more than that many
elements have been used since, and what runs backward next is fetched while there is room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.sharding.step_frames import Act
from scaletui_engine.sharding.step_gathered import AGAIN, GatheredWalk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.sharding.step_units import PlayedUnit


class LiveWalk(GatheredWalk):
    """A window of layers is whole: the one that runs, and those before it in the model up to the limit."""

    def __init__(self, contents: Contents, units: tuple[PlayedUnit, ...]) -> None:
        super().__init__(contents, units)
        runtime, self.frees = self.plan.runtime, False
        self.limit = (runtime.zero_live + runtime.zero_prefetch) * self.recipe.compute
        self.paid: set[int] = set()
        """Layers that were gathered in this pass."""

    def need(self, unit: int, what: str) -> None:
        """The window ends at the unit."""
        self.gathering = {}
        old = {place for place in self.layers if place in self.whole}
        window = self._window(unit)
        self.whole = {place: size for place, size in self.whole.items() if place in self.ends} | window
        if unit in old and unit not in self.paid:
            # The traffic table counts two gathers of every layer, also of one that stayed.
            self.pay(unit, what)
            self.paid.add(unit)
        self._fetch([place for place in window if place not in old and place not in self.paid], what)

    def prepare(self, following: list[int], what: str) -> None:
        """The first layer that is not whole yet is fetched while this one runs."""
        late = (place for place in following if self.whole.get(place, 0) < self.size(place))
        unit = next(late, None)
        if unit is not None:
            self.gathering[unit] = self.size(unit)
            self._fetch([] if unit in self.paid else [unit], what)

    def release(self, units: Sequence[int]) -> None:
        """A layer goes; what room it leaves is filled at once."""
        super().release(units)
        (unit,) = units[:1]
        if unit in self.ends:
            return
        order = self.layers.index(unit)
        if order:
            window = self._window(self.layers[order - 1])
            new = [place for place in window if place not in self.whole and place not in self.paid]
            self.whole |= window
            self._fetch([place for place in new if place not in self.gathering], AGAIN)

    def _turn(self) -> None:
        """What lies outside the layers is gathered a second time, and each layer is counted again."""
        self.paid = set()
        if self.ends:
            self.release(self.ends)
            self._gather_root(self.ends, AGAIN)

    def _forward(self) -> None:
        self.paid = set()
        super()._forward()

    def _window(self, unit: int) -> dict[int, int]:
        """Layer -> bytes of it that are whole; the limit may cut through one."""
        left = self.limit
        window: dict[int, int] = {}
        for place in self.layers[self.layers.index(unit) :: -1]:
            if left <= 0:
                break
            window[place] = min(self.size(place), left)
            left -= window[place]
        return window

    def _fetch(self, units: list[int], what: str) -> None:
        for unit in units:
            self.pay(unit, what)
        self.paid.update(units)
        if units:
            self.mark(Act.GATHER, units[0])
