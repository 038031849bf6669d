"""Small training jobs that count their own memory; they know nothing of scaletui.

Usage: train.py OUT STEPS SHAPE..., under torchrun. After every step each rank writes its count to
OUT/SHAPE.rank<r>.json. The sizes do not divide by 2 or by 4, and a layer of one row leaves all ranks but the
first with empty shards. Of several shapes each trains in a child of its own, so that torch is imported once.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    """Two layers with uneven sizes, a frozen one and a buffer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 31)
        self.narrow = nn.Linear(31, width)
        self.gate = nn.Linear(width, 1)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.gate(x).sigmoid() * self.narrow(torch.relu(self.wide(x))) * self.scale.to(x.dtype)


class Net(nn.Module):
    """A stack of blocks; the head may share the embedding's weight."""

    def __init__(self, tied: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(53, 17)
        self.blocks = nn.ModuleList(Block(17) for _ in range(3))
        self.head = nn.Linear(17, 53, bias=False)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def shard(net: Net, **options: object) -> Net:
    for block in net.blocks:
        fully_shard(block, **options)
    return fully_shard(net, **options)


def wrapped(shape: str) -> nn.Module:
    world = dist.get_world_size()
    if shape == "ddp":
        return DistributedDataParallel(Net())
    if shape in ("fsdp1", "fsdp1-flat"):
        return FullyShardedDataParallel(
            Net(),
            auto_wrap_policy=ModuleWrapPolicy({Block}),
            use_orig_params=shape == "fsdp1",
            device_id=torch.device("cpu"),
        )
    if shape == "hsdp":
        return shard(
            Net(), mesh=init_device_mesh("cpu", (2, world // 2), mesh_dim_names=("replicate", "shard"))
        )
    if shape == "mixed":
        return shard(Net(), mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
    if shape == "frozen":
        net = Net()
        net.embed.weight.requires_grad_(False)
        return shard(net)
    return shard(Net(tied=shape == "tied"))


def storage_bytes(tensors: list[torch.Tensor]) -> int:
    """Bytes of the distinct storages."""
    seen = {}
    for tensor in tensors:
        local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
        storage = local.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
    return sum(seen.values())


def state_tensors(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v)]


def train(out: Path, steps: int, shape: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{out}/{shape}.store", rank=rank, world_size=world)
    model = wrapped(shape)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3)
    accumulation = 2 if shape == "accumulate" else 1
    for step in range(1, steps + 1):
        for microbatch in range(accumulation):
            if shape == "accumulate":
                model.set_requires_gradient_sync(microbatch == accumulation - 1)
            tokens = torch.randint(0, 53, (2, 8))
            loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
            loss.backward()
        gradients = storage_bytes([p.grad for p in trained if p.grad is not None])
        optimizer.step()
        optimizer.zero_grad()
        write(
            out / f"{shape}.rank{rank}.json",
            {
                "step": step,
                "weights": storage_bytes(list(model.parameters())),
                "gradients": gradients,
                "optimizer": storage_bytes(state_tensors(optimizer)),
                "buffers": storage_bytes(list(model.buffers())),
            },
        )
    dist.barrier()
    dist.destroy_process_group()


def write(path: Path, count: dict[str, int]) -> None:
    path.with_suffix(".new").write_text(json.dumps({**count, "pid": os.getpid()}))
    path.with_suffix(".new").replace(path)


def main(out: Path, steps: int, shapes: list[str]) -> None:
    if len(shapes) == 1:
        train(out, steps, shapes[0])
        return
    for shape in shapes:
        child = os.fork()
        if not child:
            train(out, steps, shape)
            return
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{shape} failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
