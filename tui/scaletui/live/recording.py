"""Records in a thread of its own: whether a screen shows the job, another one, or there is none."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from scaletui import __version__
from scaletui.live.watcher import INTERVAL_S, Watcher
from scaletui_engine.live.recording.writer import Recorder

if TYPE_CHECKING:
    from types import TracebackType


class BackgroundRecording:
    """A context: the folder's jobs are recorded inside of it, until the disk is full or the file is."""

    def __init__(self, path: str, folder: str | None, interval_s: float = INTERVAL_S) -> None:
        """Raises RecordingError or OSError where the file cannot be made."""
        self._recorder = Recorder(path, __version__)
        self._watcher = Watcher(folder, interval_s)
        self._over = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recording", daemon=True)
        self.problem: Exception | None = None
        """What ended it early."""

    def __enter__(self) -> BackgroundRecording:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._watcher.close()
        self._recorder.close()

    def wait(self, seconds: float | None) -> bool:
        """Until it has ended by itself, or so long; whether it has."""
        return self._ended.wait(seconds)

    @property
    def looks(self) -> int:
        """Looks in the file."""
        return self._recorder.looks

    @property
    def bytes(self) -> int:
        """Bytes in the file."""
        return self._recorder.bytes

    def _run(self) -> None:
        try:
            self._watcher.run(self._recorder.take, self._over.is_set)
        except (ValueError, OSError) as problem:
            self.problem = problem
        self._ended.set()
