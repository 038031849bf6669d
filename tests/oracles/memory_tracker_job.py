"""Runs PyTorch's FSDPMemTracker on a small Llama-shaped model and prints what it saw as JSON, a line a case.

    python memory_tracker_job.py '{"ws": 8, "B": 2, "T": 128, "ac": "none", ...}' ...

No GPU and no peers: fake tensors, a fake process group. Storages are rounded up to 512 bytes as on a GPU.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools import mem_tracker
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional
from torch.testing._internal.distributed.fake_pg import FakeStore

HIDDEN, LAYERS, HEADS, KV, FFN, VOCAB = 256, 3, 4, 2, 688, 4000
"""The model of `ARCH` in the test beside this file."""


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A projection without a bias."""
    return nn.Linear(inputs, outputs, bias=False)


class Norm(nn.Module):
    """RMSNorm by torch's composite operator."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(HIDDEN))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = functional.rms_norm(x, (HIDDEN,), self.weight, 1e-5)
        return normed


class Layer(nn.Module):
    """Grouped-query attention and a gated MLP, names in the order of a Llama's."""

    def __init__(self) -> None:
        super().__init__()
        head = HIDDEN // HEADS
        self.wq, self.wk, self.wv = (
            linear(HIDDEN, HIDDEN),
            linear(HIDDEN, KV * head),
            linear(HIDDEN, KV * head),
        )
        self.wo, self.w1, self.w2 = linear(HIDDEN, HIDDEN), linear(HIDDEN, FFN), linear(FFN, HIDDEN)
        self.w3 = linear(HIDDEN, FFN)
        self.attention_norm, self.ffn_norm = Norm(), Norm()

    def forward(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), turn)
        y = self.ffn_norm(x)
        out: torch.Tensor = x + self.w2(functional.silu(self.w1(y)) * self.w3(y))
        return out

    def attention(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        batch, seq, _ = x.shape
        q, k, v = (weight(x).view(batch, seq, -1, HIDDEN // HEADS) for weight in (self.wq, self.wk, self.wv))
        q, k, v = (part.transpose(1, 2) for part in (q * turn + q.flip(-1), k * turn + k.flip(-1), v))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        out: torch.Tensor = self.wo(mixed.transpose(1, 2).reshape(batch, seq, -1))
        return out


class Llama(nn.Module):
    """Token table, layers, norm, output."""

    def __init__(self, seq: int) -> None:
        super().__init__()
        self.tok = nn.Embedding(VOCAB, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.output = Norm(), linear(HIDDEN, VOCAB)
        self.register_buffer("turn", torch.empty(seq, 1, HIDDEN // HEADS), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tok(ids)
        turn = self.turn.to(x.dtype)
        for layer in self.layers:
            x = layer(x, turn)
        logits: torch.Tensor = self.output(self.norm(x))
        return logits


def rounded(self: Any) -> int:
    """What the caching allocator of a GPU takes for a storage."""
    size: int = -(-self.size * self.element_size // 512) * 512
    return size


def totals(snapshot: dict[Any, dict[Any, int]]) -> dict[str, dict[str, int]]:
    """A snapshot with plain keys."""
    return {
        str(device): {getattr(kind, "value", str(kind)): size for kind, size in kinds.items() if size}
        for device, kinds in snapshot.items()
    }


def sharded(cfg: dict[str, Any], mesh: DeviceMesh) -> Llama:
    """The model, one FSDP unit a layer and the root."""
    model = Llama(cfg["T"])
    rules: dict[str, Any] = {"mesh": mesh, "reshard_after_forward": bool(cfg["reshard"])}
    if cfg["mp"] == "bf16":
        rules["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for index, layer in enumerate(model.layers):
        if cfg["ac"] == "full":
            model.layers[index] = checkpoint_wrapper(layer, preserve_rng_state=False)
        fully_shard(model.layers[index], **rules)
    fully_shard(model, **rules)
    return model


def run(cfg: dict[str, Any]) -> dict[str, Any]:
    """Two iterations; what the second one held at its marks and at its peak."""
    if dist.is_initialized():
        dist.destroy_process_group()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=cfg["ws"])
    mesh = init_device_mesh("cpu", (cfg["ws"],))
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = sharded(cfg, mesh)
        optimizer = torch.optim.AdamW(model.parameters(), fused=bool(cfg["fused"]), foreach=not cfg["fused"])
        tracker = FSDPMemTracker(model, optimizer)
        ids, labels = (torch.randint(0, VOCAB, (cfg["B"], cfg["T"])) for _ in range(2))
        tracker.track_inputs((ids, labels))
        with tracker:
            for _ in range(2):
                marks = iteration(tracker, (model, optimizer), (ids, labels))
        return {"cfg": cfg, "marks": marks, "peak": totals(tracker.get_tracker_snapshot("peak"))}


def iteration(tracker: Any, trained: Any, data: Any) -> dict[str, Any]:
    """One step; its peak starts at what is held before it."""
    (model, optimizer), (ids, labels), marks = trained, data, {}
    tracker.reset_mod_stats()
    tracker._peak_mem_snap = tracker.get_tracker_snapshot()
    tracker._peak_mem = {device: kinds["Total"] for device, kinds in tracker._peak_mem_snap.items()}

    def mark(name: str) -> None:
        marks[name] = totals(tracker.get_tracker_snapshot("current"))

    logits = model(ids)
    loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    del logits
    mark("after fwd")
    torch.autograd.backward(loss)
    del loss
    mark("after bwd")
    optimizer.step()
    mark("after step")
    optimizer.zero_grad()
    mark("after zero_grad")
    return marks


if __name__ == "__main__":
    mem_tracker._WeakRefInfo._calculate_mem_consumed = rounded  # type: ignore[method-assign]
    for text in sys.argv[1:]:
        print(json.dumps(run(json.loads(text))), flush=True)
