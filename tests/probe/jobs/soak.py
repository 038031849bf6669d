"""The jobs of train.py, under a probe whose thread samples a thousand times a second without a budget.

Usage: soak.py OUT STEPS SHAPE..., under `scaletui run -- torchrun`; without a probe it is train.py.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook
from train import main

LEAST = 20
"""Samples a step, of which some find the ring busy: a step that was quicker than the thread waits for it."""


class Hammer(threading.Thread):
    """Samples as fast as other threads let it, once the probe has begun."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples = threading.Semaphore(0)

    def run(self) -> None:
        pause = threading.Event()
        while not pause.wait(0.001):
            hooks = sys.modules.get("scaletui_probe.hooks")
            agent = hooks.HOOKS.agent if hooks is not None and hooks.HOOKS is not None else None
            if agent is not None:
                agent._census._in_thread.next_ns = 0
                agent.sample()
                self.samples.release()

    def stepped(self, *_: object) -> None:
        for _sample in range(LEAST):
            self.samples.acquire()


def start(out: Path, steps: int, shapes: list[str]) -> None:
    import train

    train_alone = train.train

    def train_hammered(*arguments: object) -> None:
        hammer = Hammer()
        hammer.start()
        register_optimizer_step_post_hook(hammer.stepped)
        train_alone(*arguments)

    train.train = train_hammered
    main(out, steps, shapes)


if __name__ == "__main__":
    start(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
