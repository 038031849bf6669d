"""A small program for the tests: one canvas with bars, a timeline and a trace. Usage: canvas_app.py [THEME].

Keys: `e` one edit, `p` play and pause at 10 frames a second, `i` idle (the canvas is painted again and again
with equal rows), `x` an exception, `q` quit.
"""

from __future__ import annotations

import sys

from scaletui.canvas import LineCanvas
from scaletui.text.glyphs import glyphs_for
from scaletui.theming import ThemedApp
from scaletui.view.bars import Bar, bar_rows
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import Row, Span, fit
from scaletui.view.timeline import Block, Lane, label_width, playhead_row, timeline_rows, window_of
from scaletui.view.trace import Scale, trace_rows


def lanes(ranks: int, microbatches: int) -> tuple[Lane, ...]:
    """All forwards, then all backwards."""
    end = ranks - 1 + microbatches
    return tuple(
        Lane(
            f"r{rank}",
            (
                *(Block(rank + m, rank + m + 1, str(m), "forward") for m in range(microbatches)),
                *(
                    Block(start, start + 2, str(m), "backward")
                    for m in range(microbatches)
                    for start in [end + 2 * (ranks - 1 - rank + m)]
                ),
            ),
        )
        for rank in range(ranks)
    )


class Picture(LineCanvas):
    """Everything that moves, at a tick."""

    tick = 0

    def build(self, width: int, height: int) -> list[Row]:
        """The rows at this tick."""
        pen = Pen(glyphs_for(ascii_only=False, hues=getattr(self.app, "has_hues", True)))
        ranks = min(8, max(height // 4, 1))
        bars = [
            Bar(f"rank {rank}", (("weights", 30), ("gradients", 30), ("optimizer", 60),
                ("activations", 100 + 10 * ((self.tick + rank) % 20)), ("reserved", 20)),
                f"{self.tick:>4}.{rank}")
            for rank in range(ranks)
        ]  # fmt: skip
        chart = lanes(ranks, 8)
        window = window_of(chart, width)
        time = self.tick / 2 % window.end
        trace = [abs((self.tick + x) % 30 - 15) for x in range(width)]
        rows = [
            fit((Span(f"tick {self.tick}", "title"),), width),
            *bar_rows(bars, 400, width, pen),
            playhead_row(time, window, label_width(chart), pen),
            *timeline_rows(chart, window, pen),
            *trace_rows(trace, Scale(0, 15), Box(width, 1), pen.glyphs),
        ]
        return rows[:height]


class CanvasApp(ThemedApp[int]):
    """One picture and six keys."""

    BINDINGS = [  # noqa: RUF012
        ("e", "edit", ""), ("p", "play", ""), ("i", "idle", ""), ("x", "crash", ""), ("q", "quit", ""),
    ]  # fmt: skip
    ENABLE_COMMAND_PALETTE = False

    def compose(self):
        yield Picture()

    def on_mount(self) -> None:
        self.player = self.set_interval(0.1, self.action_edit, pause=True)
        self.painter = self.set_interval(0.1, self.query_one(Picture).rebuild, pause=True)
        self.plays = False

    def action_edit(self) -> None:
        picture = self.query_one(Picture)
        picture.tick += 1
        picture.rebuild()

    def action_play(self) -> None:
        self.plays = not self.plays
        (self.player.resume if self.plays else self.player.pause)()

    def action_idle(self) -> None:
        self.painter.resume()

    def action_crash(self) -> None:
        raise RuntimeError("planted")


if __name__ == "__main__":
    app = CanvasApp(sys.argv[1] if len(sys.argv) > 1 else None)
    app.run()
    sys.exit(app.return_code)
