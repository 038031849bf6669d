"""What screens tell the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.answer import Answer
    from scaletui.state.editing import Editing
    from scaletui.state.schedule import SchedulePicture
    from scaletui.state.session import Notice
    from scaletui.state.study import Study
    from scaletui_engine.scenario import Scenario


class EditAsked(Message):
    """A screen wants the scenario changed: it sends the change, so that none is lost on the way."""

    def __init__(self, change: Callable[[Editing], Editing]) -> None:
        super().__init__()
        self.change = change


class Noticed(Message):
    """Something happened that fits on a line."""

    def __init__(self, notice: Notice) -> None:
        super().__init__()
        self.notice = notice


class Answered(Message):
    """The engine answered; `cost_s` is what it took."""

    def __init__(self, answer: Answer, cost_s: float) -> None:
        super().__init__()
        self.answer = answer
        self.cost_s = cost_s


class ActionAsked(Message):
    """Somebody clicked on a key of the footer or a mode of the header."""

    def __init__(self, action_id: str) -> None:
        super().__init__()
        self.action_id = action_id


class Refused(Message):
    """The engine cannot evaluate a scenario, and says why."""

    def __init__(self, scenario: Scenario, why: str) -> None:
        super().__init__()
        self.scenario = scenario
        self.why = why


class LeaveAsked(Message):
    """A signal, or the end of the input, asks the app to leave; `code` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class SessionAsked(Message):
    """A screen came to the front and wants to show the newest session."""


class Pictured(Message):
    """A schedule was simulated; the picture carries the scenario it is of."""

    def __init__(self, picture: SchedulePicture) -> None:
        super().__init__()
        self.picture = picture


class RowClicked(Message):
    """The mouse was clicked on a row of a pane."""

    def __init__(self, pane: str, x: int, y: int, height: int) -> None:
        super().__init__()
        self.pane = pane
        self.x = x
        self.y = y
        self.height = height
        """Rows of the pane, for lists that show a part of themselves."""


class RowScrolled(Message):
    """The wheel was turned over a pane: 1 down, -1 up."""

    def __init__(self, pane: str, direction: int) -> None:
        super().__init__()
        self.pane = pane
        self.direction = direction


class Studied(Message):
    """The engine looked closer; the study carries scenario and stage that it is of."""

    def __init__(self, study: Study) -> None:
        super().__init__()
        self.study = study
