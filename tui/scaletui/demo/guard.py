"""Ends this process when the one that started it is gone, whatever its main thread is waiting for.

Who started it stands in DEMO_PARENT: asked for here, the parent might have gone, and another taken its place.
"""

from __future__ import annotations

import os
import threading

PERIOD_S = 0.5


def end_with_parent() -> None:
    """Look every half second whether the parent is still there; without it, leave at once."""
    parent = int(os.environ["DEMO_PARENT"])

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(PERIOD_S)
        os._exit(1)

    threading.Thread(target=watch, name="demo-guard", daemon=True).start()
