"""What one rank holds of one parameter, the same for every layer of a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui_engine.model import Tensor
    from scaletui_engine.sharding.intervals import Interval
    from scaletui_engine.sharding.layout import Region


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A rank's piece of one parameter, the same for every layer of `layers`."""

    tensor: Tensor
    layers: range | None
    region: Region
    """Indices along every dim of the stored tensor (experts first), before a flat cut."""
    run: Interval | None
    """Elements of that region in row-major order, where the cut is flat."""
    numel: int
    """Elements of one layer that the rank holds."""
    allocated: int
    """The same with padding."""

    @property
    def copies(self) -> int:
        """Layers the row stands for."""
        return 1 if self.layers is None else len(self.layers)
