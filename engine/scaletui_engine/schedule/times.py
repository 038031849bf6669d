"""How long actions and messages take: real numbers, by kind, stage and microbatch."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from numpy.typing import NDArray


LONGEST: Final = 1e100
"""Sums over a whole schedule, each time scaled by a microbatch, stay finite below it."""


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one action, in any one unit; a tuple holds one value for all stages or one a stage."""

    forward: tuple[float, ...] = (1.0,)
    input_grad: tuple[float, ...] = (1.0,)
    weight_grad: tuple[float, ...] = (1.0,)
    backward: tuple[float, ...] | None = None
    """The backward pass in one; None is input plus weight gradient."""
    comm: tuple[float, ...] = (0.0,)
    """From one rank to another: one value, or one a boundary between stages. Free within a rank."""
    overlapped: float | None = None
    """An overlapped forward and backward; None is the sum of the two."""
    microbatch_scale: tuple[float, ...] = ()
    """A factor a microbatch, for uneven ones; empty is 1 for all."""
    estimated: bool = False
    """Computed from a scenario, not measured or asked for."""


UNIT_TIMES = Times()
"""F = I = W = 1 and B = 2; messages are free."""


def uniform(forward: float, input_grad: float, weight_grad: float, comm: float = 0.0) -> Times:
    """The same times for every stage."""
    return Times((forward,), (input_grad,), (weight_grad,), comm=(comm,))


@dataclass(frozen=True, slots=True, eq=False)
class TimeTable:
    """`Times` spread over the stages and microbatches of one schedule."""

    kinds: NDArray[np.float64]
    """[4, stages]: F, I, W and B of every stage."""
    comm: NDArray[np.float64]
    """[stages]: from stage s to s + 1 and back; the last entry is unused."""
    scale: NDArray[np.float64]
    """[microbatches]: factor of every microbatch."""


def time_table(times: Times, stages: int, microbatches: int) -> TimeTable:
    """Raises ValueRangeError for a time below 0 or unbounded, a wrong number of times, or no time at all."""
    parts = [
        _spread("forward", times.forward, stages),
        _spread("input-grad", times.input_grad, stages),
        _spread("weight-grad", times.weight_grad, stages),
    ]
    whole = parts[1] + parts[2] if times.backward is None else _spread("backward", times.backward, stages)
    kinds = np.stack([*parts, whole])
    if not (kinds[0] + whole).any():
        raise ValueRangeError("forward 0 + backward 0 = 0: no action takes any time")
    if times.overlapped is not None:
        _spread("overlapped", (times.overlapped,), 1)
    comm = _spread("comm", times.comm, max(1, stages - 1), "boundaries")
    scale = _spread("microbatch scale", times.microbatch_scale or (1.0,), microbatches, "microbatches")
    return TimeTable(kinds, np.append(comm, 0.0)[:stages], scale)


def _spread(name: str, values: tuple[float, ...], count: int, of: str = "stages") -> NDArray[np.float64]:
    for value in values:
        if not (isfinite(value) and value >= 0):
            raise ValueRangeError(f"{name} time {value:g} is not a number of at least 0")
        if value > LONGEST:
            raise ValueRangeError(f"{name} time {value:g} > {LONGEST:g}", f"{name} {LONGEST:g}")
    if len(values) not in (1, count):
        raise ValueRangeError(f"{name} names {len(values)} times for {count} {of}", f"1 or {count} times")
    return np.broadcast_to(np.array(values, dtype=np.float64), (count,)).copy()
