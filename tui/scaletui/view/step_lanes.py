"""The units of a step as columns: weights, gradients and optimizer of each, lit as they are gathered.

            ▼ layers.12
weights     ▂▂▂▂▂▂▂▂F▄▂▂▂▂
gradients   ·············
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.text.language import tr
from scaletui.view.cells import left
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.step_clock import playhead_row
from scaletui_engine.sharding.step_frames import Act, Gradient, Weight
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from scaletui.state.step_play import Sight
    from scaletui.view.pen import Pen

LABEL: Final = 12
_WIDEST: Final = 5
_LOW, _HALF, _FULL = 2, 4, -1
"""Levels of a slice, of what is under way, and of what is whole."""


@dataclass(frozen=True, slots=True)
class Window:
    """The units that are shown, and the cells of each."""

    units: range
    cell: int

    def column(self, unit: int) -> int:
        """The first cell of a unit."""
        return (unit - self.units.start) * self.cell


def window_of(sight: Sight, width: int) -> Window:
    """All units where they fit, else a stretch around the one that runs."""
    count, room = len(sight.step.units), max(width - LABEL, 1)
    cell = max(min(room // count, _WIDEST), 1)
    shown = min(room // cell, count)
    unit = running(sight) or 0
    first = min(max(unit - shown // 2, 0), count - shown)
    return Window(range(first, first + shown), cell)


def running(sight: Sight) -> int | None:
    """The unit that computes now, or did last; None before the first and after the last."""
    for frame in reversed(sight.step.frames[: sight.index + 1]):
        if frame.act in (Act.FORWARD, Act.BACKWARD):
            return frame.unit
        if frame.act in (Act.STEP, Act.PUBLISH):
            return None
    return None


def lane_rows(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """Pointer, weights, gradients, optimizer, names."""
    window = window_of(sight, width)
    return (
        _pointer(sight, window, width, pen),
        _lane(tr("weights"), [_weight(sight, unit, window.cell, pen) for unit in window.units], width),
        _lane(tr("gradients"), [_gradient(sight, unit, window.cell, pen) for unit in window.units], width),
        _lane(tr("optimizer"), [_optimizer(sight, window.cell, pen) for _ in window.units], width),
        _axis(sight, window, width),
    )


def _pointer(sight: Sight, window: Window, width: int, pen: Pen) -> Row:
    unit = sight.frame.unit
    if unit is None or unit not in window.units:
        return fit((), width)
    return playhead_row(LABEL + window.column(unit), sight.step.units[unit].name, width, pen)


def _lane(name: str, cells: list[Span], width: int) -> Row:
    return fit((Span(left(f" {name}", LABEL), "dim"), *merge(cells)), width)


def _weight(sight: Sight, unit: int, cell: int, pen: Pen) -> Span:
    frame, levels = sight.frame, pen.glyphs.levels
    if frame.unit == unit and frame.act in (Act.FORWARD, Act.BACKWARD):
        role = "forward" if frame.act is Act.FORWARD else "backward"
        return Span(left(pen.glyphs.letter(role), cell), fill(role))
    state = frame.weights[unit]
    role = "unsharded" if state in (Weight.GATHERING, Weight.WHOLE) else "weights"
    level = {Weight.SHARD: _LOW, Weight.GATHERING: _HALF}.get(Weight(state), _FULL)
    return Span(levels[level] * cell, role)


def _gradient(sight: Sight, unit: int, cell: int, pen: Pen) -> Span:
    state, levels = Gradient(sight.frame.gradients[unit]), pen.glyphs.levels
    if state is Gradient.NONE:
        return Span(pen.glyphs.shades.get("idle", " ") * cell, "idle")
    if state is Gradient.REDUCING:
        return Span(left("R", cell), fill("gradients"))
    role = "unsharded" if state in (Gradient.PART, Gradient.WHOLE) else "gradients"
    level = {Gradient.PART: _HALF, Gradient.SHARD: _LOW}.get(state, _FULL)
    return Span(levels[level] * cell, role)


def _optimizer(sight: Sight, cell: int, pen: Pen) -> Span:
    if sight.frame.act is Act.STEP:
        return Span(left(pen.glyphs.letter("optimizer"), cell), fill("optimizer"))
    level = _LOW if sight.step.strategy.shards_optimizer else _FULL
    return Span(pen.glyphs.levels[level] * cell, "optimizer")


def _axis(sight: Sight, window: Window, width: int) -> Row:
    """Numbers of layers where they have room, and the ends by name."""
    line = " " * LABEL
    units = sight.step.units
    for unit in window.units:
        name = units[unit].name.rpartition(".")[2]
        text = name if units[unit].is_layer else tr("emb") if name == "embedding" else tr("head")
        start = LABEL + window.column(unit)
        is_round = not units[unit].is_layer or int(name) % _every(window.cell) == 0
        if is_round and start >= len(line) and start + len(text) <= width:
            line = line + " " * (start - len(line)) + text + " "
    return fit((Span(line, "dim"),), width)


def _every(cell: int) -> int:
    """Layers between two numbers."""
    return next(step for step in (1, 2, 5, 10) if step * cell >= 4)


def window_text(sight: Sight, width: int) -> str:
    """Which units are shown, where not all are."""
    window, count = window_of(sight, width), len(sight.step.units)
    if len(window.units) == count:
        return ""
    first, last = sight.step.units[window.units.start].name, sight.step.units[window.units.stop - 1].name
    return tr("{first} to {last}, of {count}", first=first, last=last, count=count)
