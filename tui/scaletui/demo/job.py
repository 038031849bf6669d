"""The demo job as the command that started it sees it: its processes, its log, its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import TracebackType

GRACE_S: Final = 4.0
"""What the launcher gets to end its ranks; after that the whole group is killed."""
TAIL_LINES: Final = 12
_FOLDER: Final = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What to run."""

    kind: str
    """"fsdp" or "ddp"."""
    ranks: int
    steps: int
    """0 trains until the job is ended."""
    folder: str | None
    """Where the rings go."""


class DemoJob:
    """A context: the job runs inside of it, and nothing of it is left behind."""

    def __init__(self, plan: DemoPlan, *, shows_output: bool) -> None:
        self._plan = plan
        self._shows_output = shows_output
        self._room = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> DemoJob:
        self._room = tempfile.mkdtemp(prefix="scaletui-demo-")
        try:
            self._process = self._start()
        except OSError:
            shutil.rmtree(self._room, ignore_errors=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        shutil.rmtree(self._room, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The launcher's."""
        return 0 if self._process is None else self._process.pid

    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None

    def wait(self) -> int:
        """Wait for the job's own end; its exit code."""
        return 0 if self._process is None else self._process.wait()

    def end(self) -> int:
        """Tell the launcher to end, and kill its group when it does not; its exit code."""
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            process.terminate()
        try:
            return process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait()

    def tail(self) -> str:
        """The last lines that the ranks wrote; empty where they wrote to the terminal."""
        try:
            lines = (Path(self._room) / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-TAIL_LINES:])

    def _start(self) -> subprocess.Popen[bytes]:
        """The launcher in a session of its own, so that the terminal's signals go to the screen alone."""
        store = os.path.join(self._room, "store")
        script = [str(_FOLDER / "train.py"), self._plan.kind, str(self._plan.steps)]
        command = [sys.executable, str(_FOLDER / "launcher.py"), str(self._plan.ranks), store, *script]
        if self._shows_output:
            return subprocess.Popen(
                command, env=self._environ(), stdin=subprocess.DEVNULL, start_new_session=True
            )
        with open(os.path.join(self._room, "log"), "wb") as log:
            return subprocess.Popen(
                command,
                env=self._environ(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _environ(self) -> dict[str, str]:
        """As `scaletui run` sets it."""
        from scaletui.commands.run import environment

        asked = Namespace(dir=self._plan.folder, mode=None, interval=None, micro_batch=None, seq=None)
        return {**environment(asked, os.environ), "DEMO_PARENT": str(os.getpid())}
