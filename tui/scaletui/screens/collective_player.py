"""Collective player: which rank sends which block to whom, and what does it add up to?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Vertical

from scaletui.panes.frame import HeaderPane
from scaletui.panes.rows import RowsPane
from scaletui.panes.schedule import LanesPane
from scaletui.screens.frames_player import FramesPlayer
from scaletui.screens.mode import screen_bindings
from scaletui.state import schedule_look
from scaletui.state.collective_choice import (
    next_nodes,
    next_op,
    next_row,
    next_way,
    opened,
    place_of,
    resized,
    seated,
)
from scaletui.state.collective_sight import last_frame, sight_of, ways_of
from scaletui.state.seat import Seat
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.collective_grid import grid_rows, head_row
from scaletui.view.collective_head import legend_row, strip_rows
from scaletui.view.collective_layout import layout_of
from scaletui.view.collective_words import answer_row, origin_facts, step_rows, ways_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from scaletui.state.collective_choice import Choice
    from scaletui.state.collective_sight import Sight as CollectiveSight
    from scaletui.state.session import Session
    from scaletui.state.sharding_look import Look as ShardingLook
    from scaletui.view.collective_layout import Layout
    from scaletui.view.row import Row
    from scaletui_engine.sharding.traffic.table import TrafficRow

FIXED: Final = 9
"""Header, answer with its two rows, track, heads, news, keys."""
TABLE: Final = 2
"""Rows of the table of algorithms beside the algorithms."""


class CollectivePlayer(FramesPlayer):
    """A group's messages step by step."""

    KEYS: ClassVar[str] = "collective"
    BINDINGS = screen_bindings("collective")
    playhead: ClassVar[str] = "players-track"
    track_panes: ClassVar[tuple[str, ...]] = ("players-track",)

    def __init__(self, session: Session, rows: Sequence[TrafficRow], look: ShardingLook) -> None:
        super().__init__(session)
        self.rows, self.seat = tuple(rows), Seat(look.rank, look.order)
        self.choice = self._seated(opened(session.editing.scenario, self.rows, look.traffic_row))
        self.look = replace(self.look, rank=place_of(self.choice, look.rank))

    def body(self) -> Iterable[Widget]:
        """Words and track, the ranks with their blocks, the other algorithms beneath or beside."""
        with Vertical(id="players-main"):
            yield RowsPane(self._draw_answer, id="players-answer")
            yield RowsPane(self._draw_track, id="players-track")
            yield RowsPane(self._draw_head, id="players-head")
            yield LanesPane(self._draw_picture, id="players-picture")
            yield RowsPane(self._draw_below, id="players-below")

    @property
    def last(self) -> int:
        """Steps of the collective."""
        return last_frame(self.choice)

    @property
    def columns(self) -> int:
        """Cells of the track."""
        return max(self.size.width, 1)

    @property
    def seen(self) -> CollectiveSight:
        """What there is to draw."""
        return sight_of(self.choice, self.look.playback, self.look.rank, self.index)

    def redraw(self) -> None:
        """Give every part its rows first."""
        if self.is_mounted:
            self._lay_out()
        super().redraw()

    def _lay_out(self) -> None:
        """The picture takes what the words leave, and the table of algorithms what the picture leaves."""
        height = self._layout.height_with(self.seen.nodes)
        self.query_one("#players-picture").styles.height = height
        header = self.query_one(HeaderPane)
        header.facts = (tr("collective player"), *origin_facts(self.seen))
        header.rebuild()

    def choose(self, choice: Choice) -> None:
        """Another collective: from its start, at the reader's rank where there is one; the same plays on."""
        choice = self._seated(choice)
        if choice == self.choice:
            return
        self.choice = choice
        rank = min(self.look.rank, choice.played.ranks - 1)
        look = replace(self.look, rank=rank)
        self.look_at(schedule_look.moved_to(look, self.track, 0.0))

    def _seated(self, choice: Choice) -> Choice:
        assert self.session is not None
        return seated(self.session.editing.scenario, self.rows, choice, self.seat)

    def action_other_op(self) -> None:
        """The next collective."""
        self.choose(next_op(self.choice))

    def action_other_way(self) -> None:
        """The next algorithm that takes so many ranks."""
        self.choose(next_way(self.choice))

    def action_more_ranks(self) -> None:
        """The next larger group."""
        self.choose(resized(self.choice, 1))

    def action_fewer_ranks(self) -> None:
        """The next smaller group."""
        self.choose(resized(self.choice, -1))

    def action_other_nodes(self) -> None:
        """Nodes of another size."""
        self.choose(next_nodes(self.choice))

    def action_next_row(self) -> None:
        """The next row of the traffic table."""
        self._row(1)

    def action_previous_row(self) -> None:
        """The row before."""
        self._row(-1)

    def _row(self, steps: int) -> None:
        assert self.session is not None
        self.choose(next_row(self.session.editing.scenario, self.rows, self.choice, steps))

    def _choose(self, steps: int) -> None:
        """The rank above or below."""
        self.look_at(schedule_look.ranked(self.look, self.look.rank + steps, self.choice.played.ranks))

    @property
    def _layout(self) -> Layout:
        """All ranks first, then the table beneath, then air between the ranks."""
        room = max(self.size.height - FIXED, 1)
        sight = self.seen
        nodes = sight.nodes if sight.nodes > 1 else 0
        table = len(ways_of(sight.played)) + TABLE
        below = 1 + (table if room - 1 - sight.played.ranks - nodes >= table else 0)
        return layout_of(sight, Box(self.size.width, max(room - below, 1)), nodes, big=self.pen.big)

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        sight = self.seen
        return (answer_row(sight, box.width, self.pen), *step_rows(sight, box.width, self.pen))

    def _draw_track(self, box: Box) -> Sequence[Row]:
        return strip_rows(self.seen, box.width, self.pen)

    def _draw_head(self, box: Box) -> Sequence[Row]:
        return (head_row(self.seen, self._layout, box.width, self.pen),)

    def _draw_picture(self, box: Box) -> Sequence[Row]:
        return grid_rows(self.seen, self._layout, box.width, self.pen)

    def _draw_below(self, box: Box) -> Sequence[Row]:
        sight = self.seen
        legend = legend_row(sight, self._layout, box.width, self.pen)
        return (legend, *ways_rows(sight, Box(box.width, box.height - 1), self.pen))
