"""Asks a driver about its GPUs in a thread, and gives up waiting for one that does not answer.

A call into a driver cannot be taken back: the thread that hangs in it stays there, and ends as soon as it is
answered. So there is one thread that asks, and one more for every GPU that hangs, never two for the same.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from scaletui.live.poller import BREAKDOWNS

if TYPE_CHECKING:
    from collections.abc import Callable

GPU_DEADLINE_S: Final = 2.0
"""How long the other GPUs wait for one."""


class _Question:
    """One question, and what became of it."""

    def __init__(self, index: int, ask: Callable[[], None]) -> None:
        self.index = index
        self.ask = ask
        self.answered = threading.Event()
        self.broke: Exception | None = None


class Limited:
    """Waits for an answer until the deadline. One thread calls it."""

    def __init__(self, deadline_s: float = GPU_DEADLINE_S) -> None:
        self._deadline_s = deadline_s
        self._waiting: dict[int, _Question] = {}
        """Questions that were not answered in time, by GPU."""
        self._asker: _Asker | None = None

    def ask(self, index: int, question: Callable[[], None]) -> bool:
        """Whether it was answered in time; False without asking while an earlier one is not. Raises what
        broke the question, be it an earlier one."""
        earlier = self._waiting.get(index)
        if earlier is not None:
            return self._is_over(earlier)
        if self._asker is None:
            self._asker = _Asker()
        asked = _Question(index, question)
        self._asker.questions.put(asked)
        if asked.answered.wait(self._deadline_s):
            return self._is_over(asked)
        self._waiting[index] = asked
        self._asker.questions.put(None)
        self._asker = None
        return False

    def close(self) -> None:
        """Let the thread that waits for questions end."""
        if self._asker is not None:
            self._asker.questions.put(None)
            self._asker = None

    def _is_over(self, question: _Question) -> bool:
        if not question.answered.is_set():
            return False
        self._waiting.pop(question.index, None)
        if question.broke is not None:
            raise question.broke
        return True


class _Asker(threading.Thread):
    """Asks one question after the other until it is told to end."""

    def __init__(self) -> None:
        super().__init__(name="NVML GPU", daemon=True)
        self.questions: SimpleQueue[_Question | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        """The thread's work."""
        while (question := self.questions.get()) is not None:
            try:
                question.ask()
            except BREAKDOWNS as error:
                question.broke = error
            question.answered.set()
