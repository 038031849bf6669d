"""A timeline as an SVG picture: one row a rank, time to the right, microbatch numbers in the bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.schedule.kind import Kind
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours as SVG writes them; the second of two is for chunks after a rank's first."""

    forward: tuple[str, str] = ("#5b8ff9", "#2f5fd0")
    input_grad: tuple[str, str] = ("#f6bd16", "#c79100")
    weight_grad: tuple[str, str] = ("#51cf66", "#2b9348")
    backward: tuple[str, str] = ("#e94560", "#b3213c")
    optimizer: str = "#b497f0"
    background: str = "#1a1a2e"
    text: str = "#f5f5f7"
    ink: str = "#101018"

    def of(self, kind: Kind, first_chunk: bool) -> str:
        """The colour of a bar."""
        pair = (self.forward, self.input_grad, self.weight_grad, self.backward)[kind]
        return pair[0 if first_chunk else 1]


DARK: Final = Palette()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Sizes in pixels, and colours."""

    width: int = 1200
    row_height: int = 26
    margin: int = 56
    head: int = 34
    palette: Palette = DARK


DEFAULT_SHEET: Final = Sheet()


def svg(
    timeline: Timeline, title: str, step: OptimizerStep | None = None, sheet: Sheet = DEFAULT_SHEET
) -> str:
    """The picture as text; `title` is drawn as it is."""
    palette, end = sheet.palette, timeline.makespan if step is None else float(step.end.max())
    scale = (sheet.width - sheet.margin - 10) / end
    height = sheet.head + sheet.row_height * timeline.schedule.ranks + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sheet.width}" height="{height}"'
        f' viewBox="0 0 {sheet.width} {height}" font-family="monospace" font-size="12">',
        f'<rect width="{sheet.width}" height="{height}" fill="{palette.background}"/>',
        f'<text x="10" y="21" fill="{palette.text}">{escape(title)}</text>',
        *_labels(timeline, sheet),
        *_bars(timeline, sheet, scale),
        *(() if step is None else _updates(step, sheet, scale)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _labels(timeline: Timeline, sheet: Sheet) -> Iterator[str]:
    for rank in range(timeline.schedule.ranks):
        y = sheet.head + rank * sheet.row_height + sheet.row_height * 0.65
        yield f'<text x="10" y="{y:.1f}" fill="{sheet.palette.text}">r{rank}</text>'


def _updates(step: OptimizerStep, sheet: Sheet, scale: float) -> Iterator[str]:
    for rank, (start, end) in enumerate(zip(step.start.tolist(), step.end.tolist(), strict=True)):
        y, height = sheet.head + rank * sheet.row_height + 2, sheet.row_height - 4
        yield (
            f'<rect x="{sheet.margin + start * scale:.2f}" y="{y}" width="{(end - start) * scale:.2f}"'
            f' height="{height}" fill="{sheet.palette.optimizer}"><title>optimizer step</title></rect>'
        )


def _bars(timeline: Timeline, sheet: Sheet, scale: float) -> Iterator[str]:
    table, palette = timeline.table, sheet.palette
    first_stage = [
        stages[0] for stages in map(timeline.schedule.placement.stages_of, range(timeline.schedule.ranks))
    ]
    for index in np.flatnonzero(timeline.end > timeline.start).tolist():
        action, rank = table.action(index), int(table.rank[index])
        top = sheet.head + rank * sheet.row_height + 2.0
        height = sheet.row_height - 4.0
        if (
            table.last[index] != index or table.joined[index]
        ):  # a pair shares the row: forward above, backward below
            height /= 2
            top += height if table.joined[index] else 0
        x = sheet.margin + float(timeline.start[index]) * scale
        width = float(timeline.end[index] - timeline.start[index]) * scale
        colour = palette.of(action.kind, action.stage == first_stage[rank])
        yield (
            f'<rect x="{x:.2f}" y="{top:.2f}" width="{max(width - 0.6, 0.2):.2f}" height="{height:.2f}"'
            f' fill="{colour}"><title>{action}</title></rect>'
        )
        number = str(action.microbatch)
        if width > 7.5 * len(number) and height > 10:
            yield (
                f'<text x="{x + width / 2:.2f}" y="{top + height / 2 + 4:.2f}" text-anchor="middle"'
                f' fill="{palette.ink}">{number}</text>'
            )
