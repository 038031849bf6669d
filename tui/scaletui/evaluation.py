"""Asks the engine: at once where it answers in a few milliseconds, else in a worker."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from textual.worker import get_current_worker

from scaletui.messages import Answered, Refused
from scaletui.state.answer import answer
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

    from scaletui_engine.scenario import Scenario

AT_ONCE_S: Final = 0.005
"""An evaluation that took longer goes to a worker the next time."""


class Evaluation:
    """Remembers what the last answer cost, to know where to ask for the next."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._cost_s = float("inf")
        """The first answer imports the engine, so it never comes at once."""

    def ask(self, scenario: Scenario) -> None:
        """The answer arrives as a message that carries the scenario; a newer question cancels an older."""
        if self._cost_s <= AT_ONCE_S:
            self._app.post_message(_answered(scenario))
        else:
            work = partial(self._work, scenario)
            self._app.run_worker(work, thread=True, exclusive=True, group="evaluation")

    def learn(self, cost_s: float) -> None:
        """What an answer cost."""
        self._cost_s = cost_s

    def _work(self, scenario: Scenario) -> None:
        message = _answered(scenario)
        if not get_current_worker().is_cancelled:
            self._app.post_message(message)


def _answered(scenario: Scenario) -> Message:
    start = perf_counter()
    try:
        found = answer(scenario)
    except ScenarioError as error:
        return Refused(scenario, str(error))
    return Answered(found, perf_counter() - start)
