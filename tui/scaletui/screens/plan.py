"""A screen with the scenario's fields at its side: arrows step them, Enter opens one for typing."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.panes.rows import RowsPane
from scaletui.screens.mode import ModeScreen
from scaletui.state import editing
from scaletui.view.plan import field_at, plan_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.events import Key, Paste

    from scaletui.messages import RowClicked, RowScrolled
    from scaletui.state.editing import Editing
    from scaletui.state.session import Session
    from scaletui.view.box import Box
    from scaletui.view.row import Row


class PlanScreen(ModeScreen):
    """Budget, schedule and sharding: three views of one scenario, edited in the same place in each."""

    def show(self, session: Session) -> None:
        """Draw another session."""
        super().show(session)
        self.redraw()

    def redraw(self) -> None:
        """Hand every pane its rows; those that are equal cost nothing."""
        for pane in self.query(RowsPane):
            pane.rebuild()

    def draw_plan(self, box: Box) -> Sequence[Row]:
        """The fields."""
        return plan_rows(self.session.editing, box, self.session.pen, focus=True) if self.session else ()

    def on_key(self, event: Key) -> None:
        """While a value is typed, keys are text."""
        if self.session is None or self.session.editing.pending is None:
            return
        change = TYPING.get(event.key)
        if change is None and event.is_printable and event.character:
            change = partial(editing.typed, text=event.character)
        if change is not None:
            self.ask(change)
        if not event.key.startswith("ctrl+"):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: Paste) -> None:
        """Pasted text is typed text."""
        self.ask(partial(editing.typed, text=event.text.strip()))

    def on_row_clicked(self, message: RowClicked) -> None:
        """A click on a field chooses it; one on the chosen field opens it for typing."""
        if message.pane != "side" or self.session is None:
            return
        field = field_at(self.session.editing, message.y, message.height)
        if field == self.session.editing.field:
            self.action_type()
        elif field is not None:
            self.ask(partial(editing.chosen, field=field))

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks the fields."""
        if message.pane == "side":
            self.ask(partial(editing.moved, direction=message.direction))

    def action_up(self) -> None:
        """The field above."""
        self.ask(partial(editing.moved, direction=-1))

    def action_down(self) -> None:
        """The field below."""
        self.ask(partial(editing.moved, direction=1))

    def action_right(self) -> None:
        """The field's next valid value."""
        self.ask(partial(editing.stepped, direction=1))

    def action_left(self) -> None:
        """The field's previous valid value."""
        self.ask(partial(editing.stepped, direction=-1))

    def action_type(self) -> None:
        """Open the field for typing."""
        self.ask(editing.opened)


TYPING: Final[Mapping[str, Callable[[Editing], Editing]]] = MappingProxyType({
    "enter": editing.committed,
    "tab": editing.committed,
    "up": editing.committed,
    "down": editing.committed,
    "escape": editing.cancelled,
    "backspace": editing.erased,
})  # fmt: skip
"""What keys do while a value is typed."""
