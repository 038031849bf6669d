"""Small training jobs that count their own memory; they know nothing of scaletui.

Usage: train.py OUT STEPS SHAPE..., under torchrun. After every step each rank writes its count to
OUT/SHAPE.rank<r>.json. The sizes do not divide by 2 or by 4, and a layer of one row leaves all ranks but the
first with empty shards. Of several shapes each trains in a child of its own, so that torch is imported once.
A shape is a wrapper with options behind it, "fsdp2-mixed-tied"; an option alone is one of fsdp2. With
DEVICE=cuda every rank has a GPU.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    FullyShardedDataParallel,
    MixedPrecision,
    MixedPrecisionPolicy,
    fully_shard,
)
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn.parallel import DistributedDataParallel

if TYPE_CHECKING:
    from collections.abc import Iterator


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


WRAPPERS = ("fsdp2", "hsdp", "fsdp1", "ddp")
DEVICE = os.environ.get("DEVICE", "cpu")


class Shape(NamedTuple):
    """What is trained: a wrapper and its options."""

    wrapper: str
    options: frozenset[str]


def parsed(shape: str) -> Shape:
    first, *others = shape.split("-")
    if first in WRAPPERS:
        return Shape(first, frozenset(others))
    return Shape("fsdp2", frozenset([first, *others]))


def wrapped(shape: Shape) -> nn.Module:
    net = Net(tied="tied" in shape.options).to(DEVICE)
    if "frozen" in shape.options:
        net.embed.weight.requires_grad_(False)
    if shape.wrapper == "ddp":
        return DistributedDataParallel(net, gradient_as_bucket_view="views" in shape.options)
    return flattened(net, shape) if shape.wrapper == "fsdp1" else sharded(net, shape)


def flattened(net: Net, shape: Shape) -> nn.Module:
    mixed = MixedPrecision(torch.bfloat16, torch.float32) if "mixed" in shape.options else None
    return FullyShardedDataParallel(
        net,
        auto_wrap_policy=ModuleWrapPolicy({Block}),
        use_orig_params="flat" not in shape.options,
        mixed_precision=mixed,
        device_id=torch.device(DEVICE),
    )


def sharded(net: Net, shape: Shape) -> nn.Module:
    options: dict[str, object] = {}
    if shape.wrapper == "hsdp":
        sizes = (2, dist.get_world_size() // 2)
        options["mesh"] = init_device_mesh(DEVICE, sizes, mesh_dim_names=("replicate", "shard"))
    if "mixed" in shape.options:
        options["mp_policy"] = MixedPrecisionPolicy(torch.bfloat16, torch.float32)
    for block in net.blocks:
        fully_shard(block, **options)
    return fully_shard(net, **options)


@contextmanager
def without_synchronisation(model: nn.Module, apart: bool) -> Iterator[None]:
    """As each wrapper spells the micro-batches of a step that reduce no gradients."""
    if not apart:
        yield
    elif hasattr(model, "no_sync"):
        with model.no_sync():
            yield
    else:
        model.set_requires_gradient_sync(False)
        yield
        model.set_requires_gradient_sync(True)


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


def gradient_bytes(trained: list[torch.Tensor], shape: Shape) -> int:
    """By storage; under DDP by the numbers that gradients have, whatever buckets they lie in."""
    gradients = [p.grad for p in trained if p.grad is not None]
    if shape.wrapper == "ddp":
        return sum(gradient.numel() * gradient.element_size() for gradient in gradients)
    return storage_bytes(gradients)


KEPT: list[nn.Module] = []
"""Models that have been trained, until the process ends."""


def train(out: Path, steps: int, name: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if DEVICE == "cuda":
        torch.cuda.set_device(rank)
    backend = "nccl" if DEVICE == "cuda" else "gloo"
    dist.init_process_group(backend, init_method=f"file://{out}/{name}.store", rank=rank, world_size=world)
    shape = parsed(name)
    model = wrapped(shape)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3)
    losses = []
    microbatches = 2 if "accumulate" in shape.options else 1
    for step in range(1, steps + 1):
        for microbatch in range(microbatches):
            with without_synchronisation(model, apart=microbatch + 1 < microbatches):
                tokens = torch.randint(0, 53, (2, 8), device=DEVICE)
                loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1).float(), tokens.flatten())
                loss.backward()
        losses.append(repr(loss.item()))
        gradients = gradient_bytes(trained, shape)
        optimizer.step()
        optimizer.zero_grad()
        write(
            out / f"{name}.rank{rank}.json",
            {
                "step": step,
                "weights": storage_bytes(list(model.parameters())),
                "gradients": gradients,
                "optimizer": storage_bytes(state_tensors(optimizer)),
                "buffers": storage_bytes(list(model.buffers())),
                "losses": losses,
            },
        )
    dist.barrier()
    dist.destroy_process_group()
    # Freed at once, DDP's reducer joins gloo's threads while it holds the GIL that one of them may want.
    KEPT.append(model)


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
