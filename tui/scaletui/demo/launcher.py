"""Starts the ranks of the demo and sees to their end: `launcher.py RANKS STORE SCRIPT ARGUMENTS...`.

It ends all ranks when one of them fails, when it is told to, and when the process that started it is gone:
in order if they can, by force where one has failed or time is up. The standard library is all it needs, so
that it starts at once and can be ended at any moment. DEMO_PARENT is the process that started it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

PERIOD_S = 0.1
GRACE_S = 2.5
"""How long ranks may take to end before they are killed."""


def main(ranks: int, store: str, command: list[str]) -> int:
    """Run the ranks to their end; 0 when all of them ended well."""
    told = threading.Event()

    def tell(_number: int, _frame: FrameType | None) -> None:
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, tell)
    parent = int(os.environ["DEMO_PARENT"])
    children = [_start(rank, ranks, store, command) for rank in range(ranks)]
    try:
        while os.getppid() == parent and not told.wait(PERIOD_S):
            codes = [child.poll() for child in children]
            if any(codes) or None not in codes:
                break
    finally:
        _end(children, signal.SIGTERM if any(child.poll() for child in children) else signal.SIGUSR1)
    codes = [child.poll() for child in children]
    return 0 if told.is_set() else next((abs(code) for code in codes if code), 0)


def _start(rank: int, ranks: int, store: str, command: list[str]) -> subprocess.Popen[bytes]:
    environ = {
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "DEMO_STORE": store,
        "DEMO_PARENT": str(os.getpid()),
    }
    if sys.platform == "linux":
        environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return subprocess.Popen([sys.executable, *command], env=environ, stdin=subprocess.DEVNULL)


def _end(children: list[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for child in children:
        if child.poll() is None:
            child.send_signal(number)
    deadline = time.monotonic() + GRACE_S
    for child in children:
        try:
            child.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
