"""Allocates what one rank of a sharded job holds, for every case on standard input, and counts it by storage.

The fake process group lets one process be any rank of any world; its collectives move nothing, and memory
does not care. PyTorch keeps meshes and states for the life of a process, so every case has a forked one.
Input: {name: case}. Output, a line a case: {name, counted: [weights, gradients, optimizer], plan}.
"""

from __future__ import annotations

import json
import os
import sys
from math import prod

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.testing._internal.distributed.fake_pg import FakeStore

from scaletui_probe.plan import plan
from scaletui_probe.states import look

torch.set_num_threads(1)


def run(case: dict) -> dict:
    """One training step of the case's rank."""
    world = prod(case["mesh"])
    distributed.init_process_group("fake", store=FakeStore(), rank=case["rank"], world_size=world)
    model = sharded(case)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = getattr(torch.optim, case.get("optimizer", "AdamW"))(trained, **case.get("arguments", {}))
    model(torch.randint(53, (10,))).float().sum().backward()
    gradients = storages(parameter.grad for parameter in model.parameters())
    optimizer.step()
    states = storages(value for state in optimizer.state.values() for value in state.values())
    counted = [storages(model.parameters()), gradients, states]
    return {"counted": counted, "plan": plan(look([optimizer]), 1)}


def sharded(case: dict) -> nn.Module:
    """The network behind fully_shard, every block and the root, over tensor parallelism where asked."""
    names = ("shard", "tp") if case.get("tp") else ("replicate", "shard")[-len(case["mesh"]) :]
    mesh = init_device_mesh("cpu", tuple(case["mesh"]), mesh_dim_names=names)
    model = network(case).to(getattr(torch, case.get("dtype", "float32")))
    options = {"mesh": mesh["shard"] if case.get("tp") else mesh}
    options["reshard_after_forward"] = case.get("reshard", True)
    if case.get("mixed"):
        options["mp_policy"] = MixedPrecisionPolicy(torch.bfloat16, torch.float32)
    for block in model[1:4]:
        if case.get("tp"):
            parallelize_module(block, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
        fully_shard(block, **options)
    return fully_shard(model, **options)


def network(case: dict) -> nn.Sequential:
    """Sizes that few numbers of ranks divide, and a layer of one row that leaves most ranks with nothing."""
    blocks = [
        nn.Sequential(nn.Linear(18, 30), nn.ReLU(), nn.Linear(30, 18), nn.LayerNorm(18)) for _ in range(3)
    ]
    head = nn.Linear(18, 53, bias=False)
    model = nn.Sequential(nn.Embedding(53, 18), *blocks, head, nn.Linear(53, 1))
    if case.get("tied"):
        head.weight = model[0].weight
    if case.get("frozen"):
        model[0].weight.requires_grad_(False)
    return model


def storages(tensors) -> int:
    """Bytes of the storages behind tensors, each once; of a DTensor, its local one."""
    found = {}
    for tensor in tensors:
        if tensor is not None:
            storage = getattr(tensor, "_local_tensor", tensor).untyped_storage()
            found[storage.data_ptr() or id(tensor)] = storage.nbytes()
    return sum(found.values())


if __name__ == "__main__":
    for name, case in json.load(sys.stdin).items():
        if os.fork() == 0:
            print(json.dumps({"name": name, **run(case)}), flush=True)
            os._exit(0)
        os.wait()
