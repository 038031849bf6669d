"""Sharding: who holds what, and over which links do groups talk?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal

from scaletui.panes.rows import RowsPane
from scaletui.screens.mode import screen_bindings
from scaletui.screens.plan import PlanScreen
from scaletui.state.mesh import mesh_look
from scaletui.view.sharding import axis_rows, node_rows, sharding_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from scaletui.state.mesh import MeshLook
    from scaletui.state.session import Session
    from scaletui.view.box import Box
    from scaletui.view.row import Row


class ShardingScreen(PlanScreen):
    """The mesh of the plan: axes, groups, and the GPUs they span."""

    MODE: ClassVar[str] = "sharding"
    BINDINGS = screen_bindings("sharding")

    def __init__(self) -> None:
        super().__init__()
        self.mesh: MeshLook | None = None

    def body(self) -> Iterable[Widget]:
        """Answer, axes, nodes; the axis that is chosen among the fields is the one that is lit."""
        yield RowsPane(self._draw_answer, id="sharding-answer")
        yield RowsPane(self._draw_axes, id="axes")
        with Horizontal(id="below"):
            yield RowsPane(self._draw_nodes, id="nodes")
            yield RowsPane(self.draw_plan, id="side")

    def show(self, session: Session) -> None:
        """Look at the session's mesh, from where the reader was."""
        super().show(session)
        self._look(self.mesh.rank if self.mesh else 0)

    def action_step_on(self) -> None:
        """The next rank."""
        self._look(self.mesh.rank + 1 if self.mesh else 0)

    def action_step_back(self) -> None:
        """The rank before."""
        self._look(self.mesh.rank - 1 if self.mesh else 0)

    def _look(self, rank: int) -> None:
        if self.session is None:
            return
        self.mesh = mesh_look(self.session.editing.scenario, self.session.editing.field, rank)
        self.query_one("#axes").styles.height = len(self.mesh.axes) + 3
        self.redraw()

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        return (sharding_answer(self.mesh, box.width),) if self.mesh else ()

    def _draw_axes(self, box: Box) -> Sequence[Row]:
        return axis_rows(self.mesh, box, self.session.pen) if self.mesh and self.session else ()

    def _draw_nodes(self, box: Box) -> Sequence[Row]:
        return node_rows(self.mesh, box, self.session.pen) if self.mesh and self.session else ()
