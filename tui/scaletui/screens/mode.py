"""What all four screens have in common: frame, breakpoints, keys from the registry, one session to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import Screen

from scaletui.actions import ACTIONS, actions_of
from scaletui.messages import EditAsked, SessionAsked
from scaletui.panes.frame import (
    LEAST_HEIGHT,
    LEAST_WIDTH,
    FooterPane,
    FramePane,
    HeaderPane,
    NoticePane,
    TooSmallPane,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widget import Widget

    from scaletui.actions import Action
    from scaletui.state.editing import Editing
    from scaletui.state.session import Session

APP_GROUPS: Final = ("everywhere", "screens")
"""Groups whose actions are bound on the app; the others are bound on the screens they belong to."""
OF_THE_APP: Final = ("pick_model", "undo", "redo", "save", "export")
"""Actions of some screens that the app itself does, because it owns the scenario."""


def binding(action: Action) -> Binding:
    """The library's form of an action; its own footer and help are not shown, so titles stay msgids."""
    does = f"app.{action.id}" if action.id in OF_THE_APP else action.id
    keys = ",".join(action.keys)
    return Binding(keys, does, action.title, show=False, tooltip=action.tooltip, id=action.id)


def app_bindings() -> list[BindingType]:
    """Bindings of what works on every screen."""
    return [binding(action) for action in ACTIONS if action.group in APP_GROUPS]


def screen_bindings(mode: str) -> list[BindingType]:
    """Bindings of what works on one screen."""
    return [binding(action) for action in actions_of(mode) if action.group not in APP_GROUPS]


class ModeScreen(Screen[None]):
    """A screen of the app; subclasses give a mode, their body and how to show a session."""

    MODE: ClassVar[str] = ""
    KEYS: ClassVar[str] = ""
    """Whose keys footer, help and palette list, where they are not the mode's."""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 (annotating it would break the base class, which is invariant)
        (0, "-tiny"), (LEAST_WIDTH, "-narrow"), (80, "-normal"), (120, "-wide"), (180, "-huge"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LEAST_HEIGHT, "-short"), (24, "-full"), (40, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None

    def compose(self) -> ComposeResult:
        """The frame with the body inside."""
        yield HeaderPane(self.MODE)
        with Vertical(id="body"):
            yield from self.body()
        yield NoticePane(self.MODE)
        yield FooterPane(self.KEYS or self.MODE)
        yield TooSmallPane()

    def body(self) -> Iterable[Widget]:
        """The panes between header and news."""
        return ()

    def show(self, session: Session) -> None:
        """Draw a session, the frame first."""
        self.session = session
        for pane in self.query(FramePane):
            pane.show(session)

    def on_screen_resume(self) -> None:
        """What was edited elsewhere is shown when this screen comes to the front."""
        self.post_message(SessionAsked())

    def ask(self, change: Callable[[Editing], Editing]) -> None:
        """Ask the app to change the scenario."""
        self.post_message(EditAsked(change))
