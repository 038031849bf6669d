"""Two gloo ranks, one backward pass a mesh, what torch did with it: RANK STORE OUT.

OUT is a folder; RANK.json holds for every case the strategy in force, the elements held, whether a warning
came, the collectives and the gradient.
"""

from __future__ import annotations

import json
import sys
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, fully_shard
from torch.distributed.tensor.debug import CommDebugMode

WIDTH, RANKS = 4, 2
CASES = ("fsdp1 2 1", "fsdp1 1 2", "fsdp2 2 1", "fsdp2 1 2")


def wrapped(kind: str, shape: tuple[int, ...]) -> Any:
    """A linear layer of the same values on every rank, sharded over (replicate, shard)."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(WIDTH, WIDTH, bias=False)
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp_replicate", "dp_shard"))
    if kind == "fsdp2":
        return fully_shard(layer, mesh=mesh)
    cpu = torch.device("cpu")
    return FullyShardedDataParallel(
        layer, device_mesh=mesh, device_id=cpu, sharding_strategy=ShardingStrategy.HYBRID_SHARD
    )


def local(tensor: Any) -> torch.Tensor:
    """What the rank has of a DTensor, or the tensor itself."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def answer(case: str, rank: int) -> dict[str, Any]:
    """One backward pass on inputs of the rank's own."""
    kind, *shape = case.split()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = wrapped(kind, tuple(map(int, shape)))
        torch.manual_seed(rank + 1)
        inputs = torch.randn(2, WIDTH, requires_grad=True)
        with CommDebugMode() as mode:
            model(inputs).sum().backward()
    (weight,) = model.parameters()
    counts = {str(op).rpartition(".")[2]: count for op, count in mode.get_comm_counts().items()}
    return {
        "strategy": getattr(getattr(model, "sharding_strategy", None), "name", ""),
        "held": local(weight).numel(),
        "warned": any("NO_SHARD" in str(each.message) for each in said),
        "counts": counts,
        "gradient": local(weight.grad).flatten().tolist(),
    }


def main() -> None:
    """Both ranks meet in a file."""
    rank, store, out = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS, timeout=timedelta(seconds=300)
    )
    (out / f"{rank}.json").write_text(json.dumps({case: answer(case, rank) for case in CASES}))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
