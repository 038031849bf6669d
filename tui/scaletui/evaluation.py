"""Asks the engine: at once where it answers in a few milliseconds, else in a worker."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from textual.worker import get_current_worker

from scaletui.messages import Answered, Refused
from scaletui.state.answer import answer
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from textual.app import App

    from scaletui_engine.scenario import Scenario

AT_ONCE_S: Final = 0.005
"""An evaluation that took longer goes to a worker the next time."""


class Evaluation:
    """Remembers what the last answer cost, to know where to ask for the next."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._cost_s = float("inf")
        """The first answer imports the engine, so it never comes at once."""

    def ask(self, scenario: Scenario) -> Answered | Refused | None:
        """The answer, where it is quick; else None, and the answer arrives as a message.

        A newer question cancels an older one, and every answer carries the scenario that it is about.
        """
        if self._cost_s <= AT_ONCE_S:
            return self.learn(_answered(scenario))
        work = partial(self._work, scenario)
        self._app.run_worker(work, thread=True, exclusive=True, group="evaluation")
        return None

    def learn(self, message: Answered | Refused) -> Answered | Refused:
        """Remember what an answer cost."""
        if isinstance(message, Answered):
            self._cost_s = message.cost_s
        return message

    def _work(self, scenario: Scenario) -> None:
        message = _answered(scenario)
        if not get_current_worker().is_cancelled:
            self._app.post_message(message)


def _answered(scenario: Scenario) -> Answered | Refused:
    start = perf_counter()
    try:
        found = answer(scenario)
    except ScenarioError as error:
        return Refused(scenario, refusal(error))
    return Answered(found, perf_counter() - start)
