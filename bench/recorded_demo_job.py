"""The job of the shipped recording: FSDP2 on CPU, started by torchrun, to be killed and started again.

`recorded_demo_job.py STEPS_BEFORE STEPS_AFTER`: steps of the first attempt, then of the second. The first is
meant to be killed before it has made them.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import torch
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional

from scaletui.demo.llama import ON_CPU, Llama

PACE_S = 0.15
_PLACE = ("TORCHELASTIC_RESTART_COUNT", "RANK", "WORLD_SIZE")


def main(before: int, after: int) -> None:
    """Train with mixed precision and two micro-batches a step."""
    attempt, rank, world = (int(os.environ[name]) for name in _PLACE)
    meeting = Path(f"store-{attempt}").resolve().as_uri()
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp_shard",))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = Llama(ON_CPU)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    _train(model, after if attempt else before)
    distributed.destroy_process_group()


def _train(model: torch.nn.Module, steps: int) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    dice = torch.Generator().manual_seed(distributed.get_rank())
    pause = threading.Event()
    for _ in range(steps):
        for _ in range(2):
            tokens = torch.randint(ON_CPU.vocab, (ON_CPU.batch, ON_CPU.sequence + 1), generator=dice)
            logits = model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
            torch.autograd.backward(loss)
        optimizer.step()
        pause.wait(PACE_S)
        optimizer.zero_grad()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
