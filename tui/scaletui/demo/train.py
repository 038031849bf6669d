"""Trains the demo's model on one rank: `train.py fsdp|ddp STEPS`; 0 steps train until SIGUSR1.

Its launcher sets RANK, WORLD_SIZE and LOCAL_RANK as torchrun would, and DEMO_STORE. The script knows nothing
of any probe.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from pathlib import Path

from scaletui.demo import guard

guard.end_with_parent()

import torch  # noqa: E402  the guard stands before the seconds that this import takes
from torch import distributed, nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.nn import functional  # noqa: E402

from scaletui.demo.llama import ON_CPU, ON_GPU, Llama, Sizes  # noqa: E402

PACE_S = 0.2
"""A step takes at least this long on a CPU, so that a demo leaves the machine usable."""


def main(kind: str, steps: int) -> None:
    """Set up the process group, spread the model and train."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = _device(world)
    backend = "nccl" if device.type == "cuda" else "gloo"
    meeting = Path(os.environ["DEMO_STORE"]).as_uri()
    distributed.init_process_group(backend, init_method=meeting, rank=rank, world_size=world)
    sizes = ON_GPU if device.type == "cuda" else ON_CPU
    torch.manual_seed(0)
    model = _spread(Llama(sizes).to(device), kind)
    _train(model, sizes, (rank, device), steps)
    distributed.destroy_process_group()


def _device(world: int) -> torch.device:
    """One GPU a rank when there are enough, else the CPU for all."""
    if torch.cuda.is_available() and torch.cuda.device_count() >= world:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        return device
    torch.set_num_threads(1)
    return torch.device("cpu")


def _spread(model: Llama, kind: str) -> nn.Module:
    if kind == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    mesh = init_device_mesh(next(model.parameters()).device.type, (distributed.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def _train(model: nn.Module, sizes: Sizes, place: tuple[int, torch.device], steps: int) -> None:
    rank, device = place
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    dice = torch.Generator().manual_seed(rank)
    pause = threading.Event()
    told = threading.Event()
    signal.signal(signal.SIGUSR1, lambda _number, _frame: told.set())
    for _ in range(steps) if steps else itertools.count():
        tokens = torch.randint(sizes.vocab, (sizes.batch, sizes.sequence + 1), generator=dice).to(device)
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        if _any_told(told, device):
            return
        pause.wait(PACE_S if device.type == "cpu" else 0)


def _any_told(told: threading.Event, device: torch.device) -> bool:
    """Whether any rank was told to end; all learn it in the same step, so that none is left waiting."""
    flag = torch.tensor([int(told.is_set())], device=device)
    distributed.all_reduce(flag)
    return bool(flag.item())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
