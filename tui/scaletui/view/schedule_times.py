"""Times of a schedule as text, in steps or in seconds, and the ticks of a time axis."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

from scaletui.state.schedule import Unit
from scaletui.text.language import tr

if TYPE_CHECKING:
    from scaletui.state.schedule_stretch import Stretch
    from scaletui.view.pen import Pen

_NICE: Final = (1, 2, 5, 10)


def plain(value: float, pen: Pen, most: int = 2) -> str:
    """A number with as many digits as it needs: "17", "17.5", "17.25"."""
    for digits in range(most):
        if abs(value * 10**digits - round(value * 10**digits)) < 1e-6:
            return pen.numbers.fixed(value, digits)
    return pen.numbers.fixed(value, most)


def time_text(value: float, unit: Unit, pen: Pen) -> str:
    """A time without the name of its unit where that is `t`."""
    return pen.numbers.seconds(value) if unit is Unit.SECONDS else plain(value, pen)


def range_text(least: float, most: float, unit: Unit, pen: Pen) -> str:
    """Two times as short as they go, a unit that both have once: "9-12", "0-0.406 s", "85 ms-1.2 s"."""
    first, last = (time_text(value, unit, pen) for value in (least, most))
    if first == last:
        return first
    number, _, name = first.partition(" ")
    if not least or name == last.partition(" ")[2]:
        first = number
    return f"{first}-{last}"


def length_text(value: float, unit: Unit, pen: Pen) -> str:
    """A time with its unit; what is estimated says so."""
    text = time_text(value, unit, pen)
    return tr("about {time}", time=text) if unit is Unit.SECONDS else f"{text} t"


def ticks(stretch: Stretch, apart: int) -> list[float]:
    """Round times inside of a stretch, at least that many columns from each other."""
    least = apart * stretch.per_column
    power = 10.0 ** floor(log10(least))
    step = next(nice * power for nice in _NICE if nice * power >= least * (1 - 1e-9))
    first = ceil(stretch.start / step - 1e-9)
    last = floor(stretch.end / step - 1e-9)
    return [count * step for count in range(first, last + 1)]
