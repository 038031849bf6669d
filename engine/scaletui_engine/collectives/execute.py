"""A procedure carried out on numpy arrays, a step at a time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from scaletui_engine.collectives.step import Procedure, Step

    Array = NDArray[float64]


def run(procedure: Procedure, arrays: Sequence[Array]) -> list[Array]:
    """Every rank's array after the last step; the given arrays stay as they are."""
    return deque(states(procedure, arrays), maxlen=1).pop()


def states(procedure: Procedure, arrays: Sequence[Array]) -> Iterator[list[Array]]:
    """The arrays before the first step and after each one.

    Messages of one step are read before any is written: they travel at the same time. A step that puts
    blocks elsewhere (all-to-all) reads what the ranks had at the start.
    """
    first = [array.copy() for array in arrays]
    now = [array.copy() for array in arrays]
    yield [array.copy() for array in now]
    for each in procedure.steps:
        now = _after(each, now, first)
        yield [array.copy() for array in now]


def _after(step: Step, now: list[Array], first: list[Array]) -> list[Array]:
    found = [array.copy() for array in now]
    for transfer in step.transfers:
        origin = now if transfer.place is None else first
        block = origin[transfer.source][transfer.start : transfer.stop]
        start, stop = transfer.lands
        if transfer.add:
            found[transfer.target][start:stop] += block
        else:
            found[transfer.target][start:stop] = block
    return found
