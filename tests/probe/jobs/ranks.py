"""Ranks that train each for itself; in the first attempt, rank 1 is killed while it trains.

Usage: ranks.py OUT, under torchrun. Each rank notes its pid in OUT/rank<r>.<attempt>.json.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)
RANK, ATTEMPT = os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]
FOLDER = Path(sys.argv[1])


def note(name: str) -> None:
    (FOLDER / f"{name}.new").write_text(json.dumps({"pid": os.getpid()}))
    (FOLDER / f"{name}.new").replace(FOLDER / name)


def wait_for(name: str) -> None:
    """Until there is a file of that name; a job that nobody ends does not wait for ever."""
    for _ in range(10_000):
        if (FOLDER / name).exists():
            return
        time.sleep(0.02)


def main() -> None:
    net = nn.Linear(7, 5)
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(2):
        net(torch.randn(4, 7)).sum().backward()
        optimizer.step()
    note(f"rank{RANK}.{ATTEMPT}.json")
    for rank in range(int(os.environ["WORLD_SIZE"])):
        wait_for(f"rank{rank}.{ATTEMPT}.json")
    if ATTEMPT == "0":
        if RANK == "1":
            os.kill(os.getpid(), signal.SIGKILL)
        wait_for("never")


main()
