"""A pipeline schedule: per rank a list of actions, and where the stages are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.action import Step, decode_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.placement import Placement
    from scaletui_engine.schedule.shape import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The order of every rank; times and bytes come to it later."""

    name: str
    shape: Shape
    placement: Placement
    rows: tuple[NDArray[np.int64], ...]
    """One row of codes a rank (`code.py`), read-only."""
    slices: int = 1
    """Slices of a sequence; an action's microbatch number is microbatch x slices + slice."""
    weight_versions: tuple[int, ...] = ()
    """Versions of its weights that each rank keeps; empty is one a rank."""
    flush: bool = True
    """Whether the pipeline drains before the optimizer step."""

    @property
    def ranks(self) -> int:
        """Pipeline ranks."""
        return len(self.rows)

    @property
    def stages(self) -> int:
        """Stages of the model."""
        return self.placement.stages

    @property
    def units(self) -> int:
        """Numbers that actions count with: microbatches x slices."""
        return self.shape.microbatches * self.slices

    @property
    def actions(self) -> int:
        """Actions in all; a pair is two."""
        return sum(len(row) for row in self.rows)

    def steps(self, rank: int) -> tuple[Step, ...]:
        """The cells of a rank, decoded."""
        return tuple(decode_row(self.rows[rank].tolist()))


def frozen_rows(rows: Iterable[Iterable[Code]]) -> tuple[NDArray[np.int64], ...]:
    """Rows of codes as read-only arrays."""
    arrays = tuple(
        np.array(row if isinstance(row, np.ndarray) else list(row), dtype=np.int64) for row in rows
    )
    for array in arrays:
        array.flags.writeable = False
    return arrays
