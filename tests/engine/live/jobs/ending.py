"""A job of sharded ranks of which rank 1 leaves at its tenth step: `ending.py OUT HOW`."""

from __future__ import annotations

import os
import signal
import sys
import threading

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.set_num_threads(1)


def leave(how: str) -> None:
    """Killed, failed, without memory, or by itself; "end" stays."""
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "raise":
        raise KeyError("a bug")
    if how == "oom":
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
    if how == "exit":
        os._exit(7)


def main(how: str) -> None:
    # The rank that is left tells of its lost peer, however fast the launcher is to end it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    distributed.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (distributed.get_world_size(),))
    model = fully_shard(nn.Linear(18, 30), mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters())
    pause = threading.Event()
    for step in range(1, 13):
        pause.wait(0.1)
        model(torch.randn(4, 18)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == 10 and distributed.get_rank() == 1:
            leave(how)
    distributed.destroy_process_group()


main(sys.argv[2])
