"""Runs torch on a fake process group, a process a rank, and prints what ranks hold or send as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import (
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    ShardingStrategy,
    fully_shard,
)
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

VOCAB, HIDDEN, HEADS, KV, FFN, LAYERS = 36, 24, 4, 2, 40, 2
"""The model of `arch` in the test beside this file."""


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wq = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.wk = nn.Linear(HIDDEN, HIDDEN * KV // HEADS, bias=False)
        self.wv = nn.Linear(HIDDEN, HIDDEN * KV // HEADS, bias=False)
        self.wo = nn.Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq, _ = x.shape
        q, k, v = (
            linear(x).view(batch, seq, -1, HIDDEN // HEADS).transpose(1, 2)
            for linear in (self.wq, self.wk, self.wv)
        )
        k, v = (each.repeat_interleave(HEADS // KV, dim=1) for each in (k, v))
        weights = torch.softmax(q @ k.transpose(2, 3), dim=-1)
        return self.wo((weights @ v).transpose(1, 2).reshape(batch, seq, -1))


class FeedForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w1 = nn.Linear(HIDDEN, FFN, bias=False)
        self.w3 = nn.Linear(HIDDEN, FFN, bias=False)
        self.w2 = nn.Linear(FFN, HIDDEN, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(torch.relu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(HIDDEN)
        self.attention = Attention()
        self.ffn_norm = nn.RMSNorm(HIDDEN)
        self.feed_forward = FeedForward()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.ffn_norm(x))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, HIDDEN)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(HIDDEN)
        self.output = nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tok_embeddings(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def numbered(model: nn.Module) -> nn.Module:
    """Every parameter filled with the places of its elements, so that a shard tells where it comes from."""
    with torch.no_grad():
        for param in model.parameters():
            param.copy_(torch.arange(param.numel(), dtype=param.dtype).view(param.shape))
    return model


class Uneven(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.column = nn.Linear(6, 7)
        self.row = nn.Linear(8, 5)
        self.odd = nn.Linear(3, 3)


OPS = {
    "allreduce_": "all-reduce", "all_reduce": "all-reduce", "_allgather_base_": "all-gather",
    "all_gather_into_tensor": "all-gather", "_reduce_scatter_base_": "reduce-scatter",
    "reduce_scatter_tensor": "reduce-scatter",
}  # fmt: skip


class Recorder(TorchDispatchMode):
    """Collectives as they are dispatched: (op, bytes of the whole array, ranks)."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        space, name = func.name().split("::")
        name = name.split(".")[0]
        if space in ("c10d", "_c10d_functional") and name in OPS:
            sizes = [each.numel() * each.element_size() for each in _tensors((args, result))]
            self.calls.append((OPS[name], max(sizes)))
        return result


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in _tensors(each)]
    return []


def places(model: nn.Module) -> dict[str, Any]:
    """What a rank holds of every parameter, as places in the whole one, and what DTensor declares."""
    found = {}
    for name, param in model.named_parameters():
        held = param
        row: dict[str, Any] = {}
        if isinstance(param, DTensor):
            held = param.to_local()
            row["placements"] = [str(each) for each in param.placements]
        row["places"] = held.detach().reshape(-1).int().tolist()
        found[name] = row
    return found


def fsdp2(mesh: DeviceMesh) -> dict[str, Any]:
    model = numbered(Uneven())
    for child in model.children():
        fully_shard(child, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return places(model)


def tp_fsdp2(mesh: DeviceMesh) -> dict[str, Any]:
    model = numbered(Uneven())
    plan = {"column": ColwiseParallel(), "row": RowwiseParallel()}
    parallelize_module(model, mesh["tp"], plan, src_data_rank=None)
    fully_shard(model, mesh=mesh["dp"])
    return places(model)


def fsdp1(orig: bool) -> dict[str, Any]:
    model = FullyShardedDataParallel(
        numbered(Uneven()), device_id=torch.device("cpu"), use_orig_params=orig,
        sharding_strategy=ShardingStrategy.FULL_SHARD,
    )  # fmt: skip
    flat = model._handle.flat_param
    infos = [
        [each.intra_param_start_idx, each.intra_param_end_idx, each.offset_in_shard]
        if each.in_shard
        else None
        for each in flat._shard_param_infos
    ]
    return {"infos": infos, "shard": flat.numel()}


TOKENS = (2, 8)
BUCKET_MB = 1 / 128


def step(model: nn.Module, *, parallel_loss: bool = False, times: int = 1) -> dict[str, Any]:
    """Forward and backward passes under both recorders; CommDebugMode follows one pass at a time."""
    recorder, counts = Recorder(), dict[str, int]()
    for _ in range(times):
        with CommDebugMode() as counter, recorder:
            one_pass(model, parallel_loss=parallel_loss)
        for op, number in counter.get_comm_counts().items():
            name = OPS.get(str(op).split(".")[-1], str(op))
            counts[name] = counts.get(name, 0) + number
    return {"calls": recorder.calls, "counts": counts}


def one_pass(model: nn.Module, *, parallel_loss: bool) -> None:
    """Forward, loss, backward."""
    tokens = torch.zeros(TOKENS, dtype=torch.long)
    logits = model(tokens)
    if parallel_loss:
        with loss_parallel():
            nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    else:
        logits.float().sum().backward()


def traffic_fsdp(mesh: DeviceMesh, times: int) -> dict[str, Any]:
    model = Model()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return step(model, times=times)


def accumulated(mesh: DeviceMesh, habit: str) -> dict[str, Any]:
    """Two layers of 8 x 8 weights and nothing beside them, in four microbatches or wrapped once."""
    model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False))
    keeps, alone = habit == "kept", habit == "root"
    for layer in () if alone else model:
        fully_shard(layer, mesh=mesh, reshard_after_forward=not keeps)
    fully_shard(model, mesh=mesh)
    recorder, times = Recorder(), 1 if alone else 4
    with recorder:
        for index in range(times):
            last = index == times - 1
            model.set_requires_gradient_sync(habit == "every" or last)
            model.set_reshard_after_backward(not keeps or last)
            model(torch.ones(2, 8)).sum().backward()
    return {"calls": recorder.calls}


def traffic_tp(mesh: DeviceMesh, *, sequence: bool) -> dict[str, Any]:
    return step(tensor_parallel(mesh, sequence=sequence), parallel_loss=True)


def traffic_fsdp_sp(mesh: DeviceMesh) -> dict[str, Any]:
    model = tensor_parallel(mesh["tp"], sequence=True)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    return step(model, parallel_loss=True)


def activation_shapes(mesh: DeviceMesh, *, sequence: bool) -> dict[str, Any]:
    """Shape of a rank's piece of what every module puts out."""
    model, found = tensor_parallel(mesh, sequence=sequence), dict[str, list[int]]()

    def keep(name: str) -> Any:
        def hook(_: nn.Module, __: Any, out: torch.Tensor) -> None:
            found[name] = list((out.to_local() if isinstance(out, DTensor) else out).shape)

        return hook

    for name, module in model.named_modules():
        module.register_forward_hook(keep(name))
    model(torch.zeros(TOKENS, dtype=torch.long))
    return found


def tensor_parallel(mesh: DeviceMesh, *, sequence: bool) -> Model:
    """torchtitan's plan for a Llama, or plain tensor parallelism without it."""
    model = Model()
    seq, local = Shard(1), {"use_local_output": False}
    ends: dict[str, Any] = {
        "tok_embeddings": RowwiseParallel(
            input_layouts=Replicate(), output_layouts=seq if sequence else Replicate()
        ),
        "output": ColwiseParallel(
            input_layouts=seq if sequence else Replicate(), output_layouts=Shard(-1), **local
        ),
    }
    rows = {"output_layouts": seq} if sequence else {}
    inside: dict[str, Any] = {f"attention.{name}": ColwiseParallel() for name in ("wq", "wk", "wv")}
    inside |= {f"feed_forward.{name}": ColwiseParallel() for name in ("w1", "w3")}
    inside |= {name: RowwiseParallel(**rows) for name in ("attention.wo", "feed_forward.w2")}
    if sequence:
        ends["norm"] = SequenceParallel()
        entry = PrepareModuleInput(input_layouts=(seq,), desired_input_layouts=(Replicate(),))
        inside |= {"attention_norm": SequenceParallel(), "ffn_norm": SequenceParallel()}
        inside |= {"attention": entry, "feed_forward": entry}
    parallelize_module(model, mesh, ends, src_data_rank=None)
    for layer in model.layers:
        parallelize_module(layer, mesh, inside, src_data_rank=None)
    return model


def traffic_ddp() -> dict[str, Any]:
    """The third step: the first finds out in which order gradients are ready, the second agrees on it."""
    model = nn.parallel.DistributedDataParallel(Model(), bucket_cap_mb=BUCKET_MB)
    for _ in range(2):
        one_pass(model, parallel_loss=False)
    return step(model)


def ddp_buckets() -> dict[str, Any]:
    """Bytes of every gradient bucket of two steps, seen by a communication hook."""
    found: list[list[int]] = []
    model = nn.parallel.DistributedDataParallel(Model(), bucket_cap_mb=BUCKET_MB)

    def hook(_: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        found[-1].append(bucket.buffer().numel() * bucket.buffer().element_size())
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    # DDP compares the annotation itself, which is text here.
    hook.__annotations__ = {"bucket": dist.GradBucket, "return": torch.futures.Future[torch.Tensor]}
    model.register_comm_hook(None, hook)
    for _ in range(2):
        found.append([])
        one_pass(model, parallel_loss=False)
    return {"buckets": found}


def mesh_of_five() -> dict[str, Any]:
    names = ("pp", "dp_replicate", "dp_shard", "cp", "tp")
    mesh = init_device_mesh("cpu", (16, 2, 32, 2, 8), mesh_dim_names=names)
    groups = {name: dist.get_process_group_ranks(mesh.get_group(name)) for name in names}
    return {"coordinate": list(mesh.get_coordinate() or ()), "groups": groups}


def answer(case: str) -> Any:
    """What one rank says."""
    alone = {"mesh": mesh_of_five, "ddp": ddp_buckets, "traffic-ddp": traffic_ddp}
    if case in alone:
        return alone[case]()
    if case in ("fsdp1", "fsdp1-whole"):
        return fsdp1(case == "fsdp1")
    if case.startswith(("tp_fsdp2", "hsdp")):
        shape = tuple(map(int, case.split("-")[1:]))
        names = ("dp", "tp") if case.startswith("tp") else ("replicate", "shard")
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
        return tp_fsdp2(mesh) if case.startswith("tp") else fsdp2(mesh)
    if case.startswith("traffic-hsdp"):
        return traffic_fsdp(init_device_mesh("cpu", (2, 4), mesh_dim_names=("replicate", "shard")), 2)
    if case == "traffic-fsdp-and-sp":
        return traffic_fsdp_sp(init_device_mesh("cpu", (4, 2), mesh_dim_names=("dp", "tp")))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    if case.startswith("activations"):
        return activation_shapes(mesh, sequence=case.endswith("sp"))
    if case == "fsdp2":
        return fsdp2(mesh)
    if case.startswith("accumulated"):
        return accumulated(mesh, case.split("-")[1])
    return traffic_fsdp(mesh, 2) if case == "traffic-fsdp" else traffic_tp(mesh, sequence=case.endswith("sp"))


def run_rank(case: str, rank: int, world: int, out: int) -> None:
    """The body of a forked process: writes a line of JSON to a pipe."""
    if case.endswith("ddp"):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=rank, world_size=world)
    else:
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world)
    with os.fdopen(out, "w") as pipe:
        json.dump(answer(case), pipe)


def main(cases: list[str]) -> None:
    """ "CASE/WORLD/RANK,RANK" each; a process is forked for each rank, and torch imported once."""
    torch.set_num_threads(1)
    found: dict[str, dict[str, Any]] = {}
    for asked in cases:
        case, world, ranks = asked.split("/")
        found[case] = {rank: forked(case, int(rank), int(world)) for rank in ranks.split(",")}
    print(json.dumps(found))


def forked(case: str, rank: int, world: int) -> Any:
    """The answer of a process of its own: torch remembers the first rank that it was."""
    read, write = os.pipe()
    if not os.fork():
        os.close(read)
        run_rank(case, rank, world, write)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)


if __name__ == "__main__":
    main(sys.argv[1:])
