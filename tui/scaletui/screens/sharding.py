"""Sharding: who holds what, and over which links do groups talk?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from scaletui.panes.rows import RowsPane
from scaletui.screens.mode import ModeScreen, screen_bindings
from scaletui.state import editing
from scaletui.state.mesh import mesh_look
from scaletui.view.sharding import axis_rows, node_rows, sharding_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from scaletui.state.mesh import MeshLook
    from scaletui.state.session import Session
    from scaletui.view.box import Box
    from scaletui.view.row import Row


class ShardingScreen(ModeScreen):
    """The mesh of the plan: axes, groups, and the GPUs they span."""

    MODE: ClassVar[str] = "sharding"
    BINDINGS = screen_bindings("sharding")

    def __init__(self) -> None:
        super().__init__()
        self.mesh: MeshLook | None = None

    def body(self) -> Iterable[Widget]:
        """Answer, axes, nodes."""
        yield RowsPane(self._answer, id="sharding-answer")
        yield RowsPane(self._axes, id="axes")
        yield RowsPane(self._nodes, id="nodes")

    def show(self, session: Session) -> None:
        """Look at the session's mesh, from where the reader was."""
        super().show(session)
        place, rank = (self.mesh.place, self.mesh.rank) if self.mesh else (0, 0)
        self._look(place, rank)

    def action_up(self) -> None:
        """The axis above."""
        self._move(axis=-1)

    def action_down(self) -> None:
        """The axis below."""
        self._move(axis=1)

    def action_step_on(self) -> None:
        """The next rank."""
        self._move(rank=1)

    def action_step_back(self) -> None:
        """The rank before."""
        self._move(rank=-1)

    def action_right(self) -> None:
        """The axis at its next valid degree."""
        self._step(1)

    def action_left(self) -> None:
        """The axis at its previous valid degree."""
        self._step(-1)

    def _move(self, axis: int = 0, rank: int = 0) -> None:
        if self.mesh is not None:
            self._look(self.mesh.place + axis, self.mesh.rank + rank)

    def _step(self, direction: int) -> None:
        if self.mesh is not None:
            self.ask(partial(editing.stepped_field, field=self.mesh.axis.name, direction=direction))

    def _look(self, place: int, rank: int) -> None:
        if self.session is None:
            return
        self.mesh = mesh_look(self.session.editing.scenario, place, rank)
        self.query_one("#axes").styles.height = len(self.mesh.axes) + 3
        for pane in self.query(RowsPane):
            pane.rebuild()

    def _answer(self, box: Box) -> Sequence[Row]:
        return (sharding_answer(self.mesh, box.width),) if self.mesh else ()

    def _axes(self, box: Box) -> Sequence[Row]:
        return axis_rows(self.mesh, box, self.session.pen) if self.mesh and self.session else ()

    def _nodes(self, box: Box) -> Sequence[Row]:
        return node_rows(self.mesh, box, self.session.pen) if self.mesh and self.session else ()
