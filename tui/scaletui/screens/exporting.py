"""The key that writes looks to a file, for the screens that show them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scaletui.messages import Noticed
from scaletui.screens.mode import ModeScreen
from scaletui.screens.save import SaveScreen
from scaletui.state.naming import Naming
from scaletui.state.session import Notice
from scaletui.text.language import ntr, tr
from scaletui.view.live_export import KINDS, lines
from scaletui_engine.live.recording.fault import RecordingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import Snapshot


class ExportingScreen(ModeScreen):
    """A screen of looks; they are written by a thread, because a recording may hold many."""

    @property
    def snapshot(self) -> Snapshot | None:
        """What is shown."""
        return None

    def looks(self) -> Iterator[Snapshot]:
        """What is written; asked for in the thread."""
        if self.snapshot is not None:
            yield self.snapshot

    def action_export_looks(self) -> None:
        """Ask for a name and write the table that its ending says."""
        if self.session is None or self.snapshot is None:
            return
        name = Naming("scaletui.csv", KINDS)
        self.app.push_screen(SaveScreen(tr("export what is shown as"), name, self.session.pen), self._export)

    def _export(self, path: str | None) -> None:
        if path is not None:
            self.run_worker(partial(self._write, path), thread=True, group="export")

    def _write(self, path: str) -> None:
        try:
            with Path(path).open("w", encoding="utf-8") as file:
                count = sum(bool(file.write(line)) for line in lines(Path(path).suffix, self.looks()))
        except OSError as error:
            notice = Notice(f"{error.strerror}: {path}", "error")
        except RecordingError as error:
            notice = Notice(str(error), "error")
        else:
            notice = Notice(
                ntr("{n} line written to {path}", "{n} lines written to {path}", count, path=path), "ok"
            )
        self.post_message(Noticed(notice))
