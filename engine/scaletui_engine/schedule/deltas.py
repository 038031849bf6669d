"""What actions add to and take from the memory of a rank, signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Deltas:
    """Of one action, in chunks or in bytes: one value for all stages, or one a stage. B changes by I + W.

    The three must add up to 0: what a forward keeps is freed by the end. I may be positive, as measured
    in sail-sg/zero-bubble-pipeline-parallelism#63.
    """

    forward: tuple[float, ...]
    input_grad: tuple[float, ...]
    weight_grad: tuple[float, ...]

    def scaled(self, factor: float) -> Deltas:
        """The same of a part of a stage, or of several."""
        parts = (self.forward, self.input_grad, self.weight_grad)
        return Deltas(*(tuple(value * factor for value in values) for values in parts))


MOST: Final = 1e100
"""Sums over a whole schedule stay finite below it."""
FREED_BY_WEIGHT_GRAD = Deltas((1.0,), (0.0,), (-1.0,))
"""Chunks that live until their W (or B) ends."""
FREED_BY_INPUT_GRAD = Deltas((1.0,), (-1.0,), (0.0,))
"""Chunks that live until their I (or B) ends."""


def delta_table(deltas: Deltas, stages: int) -> NDArray[np.float64]:
    """[4, stages]: F, I, W and B. Raises ValueRangeError when a stage's three do not add up to 0."""
    parts = [_spread(values, stages) for values in (deltas.forward, deltas.input_grad, deltas.weight_grad)]
    total = parts[0] + parts[1] + parts[2]
    wrong = np.flatnonzero(np.abs(total) > 1e-9 * np.maximum(1.0, np.abs(parts[0])))
    if wrong.size:
        stage = int(wrong[0])
        f, i, w = (float(part[stage]) for part in parts)
        raise ValueRangeError(f"memory of stage {stage}: F {f:+g} I {i:+g} W {w:+g} = {f + i + w:g}, not 0")
    return np.stack([*parts, parts[1] + parts[2]])


def _spread(values: tuple[float, ...], stages: int) -> NDArray[np.float64]:
    if odd := [value for value in values if not abs(value) <= MOST]:
        raise ValueRangeError(f"memory delta {odd[0]:g} is not a number of at most {MOST:g}")
    if len(values) not in (1, stages):
        raise ValueRangeError(f"{len(values)} memory deltas for {stages} stages", f"1 or {stages} deltas")
    return np.broadcast_to(np.array(values, dtype=np.float64), (stages,)).copy()
