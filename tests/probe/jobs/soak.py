"""The jobs of train.py, under a probe whose thread samples a thousand times a second without a budget.

Usage: soak.py OUT STEPS SHAPE..., under `scaletui run -- torchrun`; without a probe it is train.py.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from train import main


def hammer() -> None:
    """Sample as fast as other threads let it, once the probe has begun."""
    pause = threading.Event()
    while not pause.wait(0.001):
        hooks = sys.modules.get("scaletui_probe.hooks")
        agent = hooks.HOOKS.agent if hooks is not None and hooks.HOOKS is not None else None
        if agent is not None:
            agent._census._in_thread.next_ns = 0
            agent.sample()


def start(out: Path, steps: int, shapes: list[str]) -> None:
    import train

    train_alone = train.train

    def train_hammered(*arguments: object) -> None:
        threading.Thread(target=hammer, daemon=True).start()
        train_alone(*arguments)

    train.train = train_hammered
    main(out, steps, shapes)


if __name__ == "__main__":
    start(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
