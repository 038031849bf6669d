"""The part of the live screen that turns pages: ranks in another order, as a map, one closely; and alerts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scaletui.messages import ActionAsked, Noticed
from scaletui.panes.rows import RowsPane
from scaletui.screens.ask import AskScreen
from scaletui.screens.live_gpus import GpuScreen
from scaletui.state import editing
from scaletui.state import live as state
from scaletui.state.live import Page
from scaletui.state.live_heat import moved, place_at
from scaletui.state.live_scenario import batch_of, batch_told, scenario_of
from scaletui.state.session import Notice
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.live_fit import fit_rows
from scaletui.view.live_heat import heat_layout, heat_rows, label_columns
from scaletui.view.live_rank import rank_rows
from scaletui_engine.live.outcome import Rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaletui.messages import RowClicked
    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

PANE = "live-page"


class PageScreen(GpuScreen):
    """Keeps what is looked at; the live screen draws it."""

    def __init__(self) -> None:
        super().__init__()
        self.state = state.LiveState()

    def look(self, wanted: LiveState) -> None:
        """Draw another picture."""
        self.state = wanted

    def page_pane(self) -> RowsPane:
        """What stands in place of the list, hidden while that is shown."""
        return RowsPane(self._page_rows, id=PANE)

    def action_rank_order(self) -> None:
        """Sort the ranks by something else."""
        self.look(state.other_order(self.state))

    def action_rank_filter(self) -> None:
        """Ask which ranks to show."""
        if self.session is None:
            return
        hint = "state:dead   8-15   node-b   > 90 %   > 60 GiB   > 0.5 s"
        ask = AskScreen(tr("show only ranks that are"), hint, self.state.filter, self.session.pen)
        self.app.push_screen(ask, self._filter)

    def action_heat(self) -> None:
        """All ranks as a map, or the list."""
        self.look(state.turned(self.state, Page.HEAT))

    def action_measure(self) -> None:
        """Colour the map by something else; from anywhere else, open it."""
        if self.state.page is Page.HEAT:
            self.look(state.other_measure(self.state))
        else:
            self.look(state.turned(self.state, Page.HEAT))

    def action_into_rank(self) -> None:
        """One rank closely, or back."""
        self.look(state.turned(self.state, Page.RANK))

    def action_out_of_rank(self) -> None:
        """One page up; from the list, all ranks again."""
        if self.gpus.is_open:
            self.action_gpus()
        else:
            self.look(state.back(self.state))

    def action_acknowledge(self) -> None:
        """Every alert has been seen."""
        self.look(state.acknowledge(self.state))

    def action_make_fit(self) -> None:
        """What would make the job need less, or back."""
        self.look(state.turned(self.state, Page.FIT))

    def action_batch(self) -> None:
        """Ask for micro-batch and sequence, which no shape tells."""
        rank = state.rank(self.state)
        if self.session is None or rank is None:
            return
        known = batch_of(self.state, rank)
        text = f"{known.micro_batch} {known.seq}" if known.is_known else ""
        hint = tr("for example: 2 4096")
        ask = AskScreen(tr("micro-batch and sequence of the job"), hint, text, self.session.pen)
        self.app.push_screen(ask, self._tell_batch)

    def action_to_budget(self) -> None:
        """The job as a scenario, in Budget."""
        rank = state.rank(self.state)
        found = None if rank is None else scenario_of(self.state, rank)
        if isinstance(found, Rebuilt):
            self.ask(partial(editing.replaced, scenario=found.scenario))
            self.post_message(ActionAsked("mode_budget"))
        elif found is not None:
            self.look(state.turned(replace(self.state, page=Page.LIST), Page.FIT))

    def walk(self, across: int, down: int) -> bool:
        """On the map, the cell beside; whether the map is open."""
        job = state.job(self.state)
        if self.state.page is not Page.HEAT or job is None:
            return False
        layout = heat_layout(job, self._box)
        rank = state.rank(self.state)
        place = next((index for index, found in enumerate(job.ranks) if found is rank), 0)
        number = job.ranks[moved(place, (across, down), layout)].identity.rank
        self.look(state.rank_of_number(self.state, number))
        return True

    def click_page(self, message: RowClicked) -> bool:
        """A click on a cell of the map chooses its first rank; whether it was for a page."""
        job = state.job(self.state)
        if message.pane != PANE or job is None:
            return False
        if self.state.page is Page.HEAT:
            layout = heat_layout(job, self._box)
            place = place_at(message.x - label_columns(job), message.y - 1, layout)
            if place is not None:
                self.look(state.rank_of_number(self.state, job.ranks[place].identity.rank))
        return True

    @property
    def _box(self) -> Box:
        size = self.query_one(f"#{PANE}").size
        return Box(size.width, size.height)

    def _filter(self, text: str | None) -> None:
        if text is not None:
            self.look(state.filtered(self.state, text))

    def _tell_batch(self, text: str | None) -> None:
        if text is None:
            return
        told = batch_told(self.state, text)
        if told is None:
            self.post_message(Noticed(Notice(tr("two whole numbers are needed: 2 4096"), "error")))
        else:
            self.look(told)

    def _page_rows(self, box: Box) -> Sequence[Row]:
        draw = _PAGES.get(self.state.page)
        return () if draw is None or self.session is None else draw(self.state, box, self.session.pen)


_PAGES: dict[Page, Callable[[LiveState, Box, Pen], Sequence[Row]]] = {
    Page.HEAT: heat_rows,
    Page.RANK: rank_rows,
    Page.FIT: fit_rows,
}
