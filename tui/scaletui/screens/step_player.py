"""Step player: what does a rank hold, unit by unit, and what would it hold with another strategy?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Vertical
from textual.message import Message
from textual.worker import get_current_worker

from scaletui.panes.frame import HeaderPane
from scaletui.panes.rows import RowsPane
from scaletui.panes.schedule import LanesPane
from scaletui.screens.frames_player import FramesPlayer
from scaletui.screens.mode import screen_bindings
from scaletui.state.step_play import Sight as StepSight
from scaletui.state.step_play import Takes, strategies, take_of, takes_of
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.facts import scenario_facts
from scaletui.view.row import fit
from scaletui.view.rule import rule_row
from scaletui.view.step_clock import clock_text
from scaletui.view.step_lanes import LABEL, lane_rows, window_text
from scaletui.view.step_memory import beside_rows, chart_rows, legend_row, playhead
from scaletui.view.step_ranks import rank_rows
from scaletui.view.step_words import answer_row, units_title, word_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.widget import Widget

    from scaletui.state.seat import Seat
    from scaletui.state.session import Session
    from scaletui.state.step_play import Take
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_engine.plan import Strategy
    from scaletui_engine.scenario import Scenario

FIXED: Final = 12
"""Header, answer and two rows of words, rule and five rows of units, news, keys."""
CHART: Final = 3
"""Rule, phases and playhead around the curve."""
MOST_CURVE: Final = 12
LEAST_CURVE: Final = 3
"""Weights, the optimizer and what changes: bars of other strategies give way to them."""
OWN: Final = 2
"""Rows of the strategies' rule and of the bar of the one that is played."""
RANKS: Final = 10
"""Rows of the ranks' slices, where there is room for them."""


class StepPlayer(FramesPlayer):
    """One training step of the scenario."""

    KEYS: ClassVar[str] = "one_step"
    BINDINGS = screen_bindings("one_step")
    playhead: ClassVar[str] = "players-playhead"
    track_panes: ClassVar[tuple[str, ...]] = ("players-playhead", "players-chart")
    track_start: ClassVar[int] = LABEL

    class Compared(Message):
        """All strategies were played."""

        def __init__(self, takes: Takes) -> None:
            super().__init__()
            self.takes = takes

    def __init__(self, session: Session, seat: Seat) -> None:
        super().__init__(session)
        self.seat = seat
        self.scenario: Scenario | None = None
        self.takes: Takes | None = None
        self.strategy: Strategy = session.editing.scenario.plan.strategy

    def body(self) -> Iterable[Widget]:
        """Words, units, memory, strategies."""
        with Vertical(id="players-main"):
            yield RowsPane(self._draw_answer, id="players-answer")
            yield LanesPane(self._draw_lanes, id="players-lanes")
            yield RowsPane(self._draw_chart, id="players-chart")
            yield RowsPane(self._draw_playhead, id="players-playhead")
            yield RowsPane(self._draw_beside, id="players-below")

    def show(self, session: Session) -> None:
        """A session with another scenario is played from its start."""
        self.session = session
        self._play(session.editing.scenario)
        super().show(session)

    def on_step_player_compared(self, message: Compared) -> None:
        """Show the other strategies, unless the scenario has changed since."""
        message.stop()
        if message.takes.scenario is self.scenario:
            self.takes = message.takes
            self.redraw()

    @property
    def seen(self) -> StepSight | None:
        """What there is to draw."""
        if self.scenario is None:
            return None
        take = self._take(self.scenario, self.strategy)
        takes = self.takes or Takes(self.scenario, (take,), self.seat)
        if take.step is None:
            return None
        return StepSight(takes, take, take.step, self.index, self.look.playback)

    def _take(self, scenario: Scenario, strategy: Strategy) -> Take:
        return take_of(scenario, strategy, self.seat.stage(scenario))

    @property
    def last(self) -> int:
        """Index of the last frame."""
        step = self._take(self.scenario, self.strategy).step if self.scenario is not None else None
        return 0 if step is None else step.last

    @property
    def columns(self) -> int:
        """Cells of the curve."""
        return max(self.size.width - LABEL, 1)

    def redraw(self) -> None:
        """Give every part its rows first."""
        if self.is_mounted:
            self._lay_out()
        super().redraw()

    def _lay_out(self) -> None:
        """The curve takes what units and strategies leave."""
        beside = (3 if self.pen.big else len(strategies(self.scenario))) + 2 if self.scenario else 0
        room = self.size.height - FIXED - CHART - beside
        least = min(max(room + beside - OWN, 1), LEAST_CURVE)
        curve = min(max(room if room < RANKS + 5 else room - RANKS, least), MOST_CURVE)
        self.query_one("#players-chart").styles.height = curve + CHART - 1
        header = self.query_one(HeaderPane)
        facts = scenario_facts(self.scenario, self.pen) if self.scenario else ()
        header.facts = (tr("step player"), *facts)
        header.rebuild()

    def action_next_strategy(self) -> None:
        """The next strategy that the plan can have, at the same moment."""
        self._choose(1)

    def _play(self, scenario: Scenario) -> None:
        if scenario is self.scenario:
            return
        self.scenario, self.takes, self.strategy = scenario, None, scenario.plan.strategy
        self._go(0.0)
        self.run_worker(partial(self._compare, scenario), thread=True, exclusive=True, group="step-player")

    def _compare(self, scenario: Scenario) -> None:
        found = takes_of(scenario, self.seat)
        if not get_current_worker().is_cancelled:
            self.post_message(self.Compared(found))

    def _choose(self, steps: int) -> None:
        """Another strategy: its frame of the same moment."""
        sight, scenario = self.seen, self.scenario
        if sight is None or scenario is None:
            return
        names = [name for name in strategies(scenario) if self._take(scenario, name).step is not None]
        other = self._take(scenario, names[(names.index(self.strategy) + steps) % len(names)])
        frame = other.at(sight.moment)
        self.strategy = other.strategy
        playback = replace(self.look.playback, position=float(frame))
        self.look_at(replace(self.look, playback=playback))

    def _draw(self, view: Callable[[StepSight, Pen], Sequence[Row]]) -> Sequence[Row]:
        sight = self.seen
        return view(sight, self.pen) if sight is not None else ()

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        return self._draw(
            lambda sight, pen: (answer_row(sight, box.width, pen), *word_rows(sight, box.width, pen))
        )

    def _draw_lanes(self, box: Box) -> Sequence[Row]:
        return self._draw(
            lambda sight, pen: (_units_rule(sight, box.width, pen), *lane_rows(sight, box.width, pen))
        )

    def _draw_chart(self, box: Box) -> Sequence[Row]:
        room = Box(box.width, max(box.height - CHART + 1, 1))
        return self._draw(lambda sight, pen: chart_rows(sight, room, pen))

    def _draw_playhead(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: (playhead(sight, box.width, pen),))

    def _draw_beside(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: _below(sight, box, pen))


def _units_rule(sight: StepSight, width: int, pen: Pen) -> Row:
    """What part of the units is shown, which microbatch runs, and the clock."""
    clock = clock_text(sight.playback, pen)
    facts = [window_text(sight, width)]
    if sight.step.microbatches > 1:
        facts.append(tr("microbatch {n} of {all}", n=sight.frame.microbatch + 1, all=sight.step.microbatches))
    title = units_title(sight)
    text = "   ".join(fact for fact in facts if fact)
    heads = [(width - len(clock) - 4, text), (width, clock)] if text else [(width, clock)]
    return rule_row(title, width, pen, heads)


def _below(sight: StepSight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """All strategies, then the letters of the parts at the foot."""
    rows = beside_rows(sight, Box(box.width, max(box.height - 1, 1)), pen)
    room = Box(box.width, box.height - 2 - len(rows))
    ranks = rank_rows(sight, room, pen)
    rows = (*rows, *((fit((), box.width), *ranks) if ranks else ()))
    blank = (fit((), box.width),) * (box.height - 1 - len(rows))
    return (*rows, *blank, legend_row(sight, box.width, pen))
