"""The jobs of train.py, in which rank 0 ends a step only when somebody writes a byte to OUT/turns, a fifo.

Usage: turns.py OUT STEPS SHAPE, under torchrun.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook
from train import main


def start(out: Path, steps: int, shape: str) -> None:
    if os.environ["RANK"] == "0":
        turns = os.open(out / "turns", os.O_RDONLY)

        def wait(*_: object) -> None:
            if not os.read(turns, 1):
                sys.exit("nobody gives turns any more")

        register_optimizer_step_post_hook(wait)
    main(out, steps, [shape])


if __name__ == "__main__":
    start(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
