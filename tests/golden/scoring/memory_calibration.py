"""The one constant that is calibrated: reserved over the pools, on half of the source groups."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from scaletui_engine.memory.reserve import RESERVE_FACTOR

if TYPE_CHECKING:
    from scoring.memory_gates import Pairs

GROUP = "torchtitan reserved"


def calibration(pairs: Pairs) -> tuple[str, ...]:
    """The factor that each half of the sources would choose, and the error it makes on the other half."""
    ratios: dict[str, list[float]] = {}
    for record, line in pairs:
        if line.group == GROUP and line.status in ("ok", "off") and line.predicted and line.expected:
            ratios.setdefault(record.source, []).append(line.expected / line.predicted)
    sources = sorted(ratios)
    if len(sources) < 2:
        return ()
    halves = (sources[::2], sources[1::2])
    return tuple(
        _half(
            name, [ratio for source in fit for ratio in ratios[source]], [r for s in rest for r in ratios[s]]
        )
        for name, fit, rest in (("first", *halves), ("second", halves[1], halves[0]))
    )


def _half(name: str, fit: list[float], rest: list[float]) -> str:
    factor = median(fit)
    errors = [100 * abs(factor / ratio - 1) for ratio in rest]
    return (
        f"reserve factor {RESERVE_FACTOR * factor:.3f} from the {name} half of the sources, {len(fit)} rows; "
        f"{RESERVE_FACTOR:g} is in use; the other half: median {median(errors):.2f}% worst {max(errors):.2f}%"
    )
