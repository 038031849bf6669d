"""The frame around every screen: header, news, keys, and the line that asks for a larger terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.actions import footer_of
from scaletui.canvas import LineCanvas
from scaletui.messages import ActionAsked
from scaletui.text.language import tr
from scaletui.view.facts import scenario_facts
from scaletui.view.footer import footer_places, footer_row, notice_row
from scaletui.view.header import header_row, mode_at
from scaletui.view.row import Row, Span, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Click

    from scaletui.state.session import Session

LEAST_WIDTH: Final = 60
LEAST_HEIGHT: Final = 18


class FramePane(LineCanvas):
    """A pane of one row that shows the session."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode
        self.session: Session | None = None

    def show(self, session: Session) -> None:
        """Draw another session."""
        self.session = session
        self.rebuild()


class HeaderPane(FramePane):
    """Name, scenario and modes."""

    facts: tuple[str, ...] | None = None
    """What stands for the scenario, where a screen has something else to say."""

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The one row."""
        if self.session is None:
            return ()
        pen, scenario = self.session.pen, self.session.editing.scenario
        facts = scenario_facts(scenario, pen) if self.facts is None else self.facts
        return (header_row(facts, self.mode, width, pen),)

    def on_click(self, event: Click) -> None:
        """A click on a mode opens it."""
        mode = mode_at(event.x, self.mode, self.size.width)
        if mode is not None:
            self.post_message(ActionAsked(f"mode_{mode}"))


class NoticePane(FramePane):
    """What just happened, or why an edit was refused."""

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The one row."""
        if self.session is None:
            return ()
        refusal, notice = self.session.editing.refusal, self.session.notice
        text, role = (refusal, "error") if refusal else (notice.text, notice.role)
        return (notice_row(text, role, width, self.session.pen),)


class FooterPane(FramePane):
    """The keys that matter on this screen."""

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The one row."""
        return (footer_row(footer_of(self.mode), width),)

    def on_mount(self) -> None:
        """The keys do not wait for a session."""
        self.rebuild()

    def on_click(self, event: Click) -> None:
        """A click on a key does what the key does."""
        for start, end, action in footer_places(footer_of(self.mode), self.size.width):
            if start <= event.x < end:
                self.post_message(ActionAsked(action.id))


class TooSmallPane(LineCanvas):
    """One line, where the terminal is too small for anything else."""

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The line says what is needed and what there is."""
        size = self.screen.size
        text = tr(
            "needs {width} x {height}, has {columns} x {rows}",
            width=LEAST_WIDTH, height=LEAST_HEIGHT, columns=size.width, rows=size.height,
        )  # fmt: skip
        return (fit((Span(text, "warn"),), width),)
