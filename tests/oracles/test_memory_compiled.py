"""What a compiled block keeps under torchtitan's selective checkpointing, asked of torch itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.model import Arch
from scaletui_engine.plan import Axes, Plan, Recompute, Strategy
from scaletui_engine.runtime import Framework, Runtime

pytestmark = pytest.mark.torch

HIDDEN, FFN, HEADS, BATCH, SEQ = 64, 160, 4, 2, 32


class Block(nn.Module):
    """A Llama layer in fp32, under the policy that keeps attention and every other matrix product."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(HIDDEN), nn.RMSNorm(HIDDEN)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(4))
        self.w1, self.w3 = (nn.Linear(HIDDEN, FFN, bias=False) for _ in range(2))
        self.w2 = nn.Linear(FFN, HIDDEN, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = checkpoint(
            self._run, x, use_reentrant=False, context_fn=_contexts, preserve_rng_state=False
        )
        return out

    def _run(self, x: torch.Tensor) -> torch.Tensor:
        entering = self.attention_norm(x)
        heads = [
            product(entering).view(BATCH, SEQ, HEADS, -1).transpose(1, 2)
            for product in (self.wq, self.wk, self.wv)
        ]
        attended = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.wo(attended.transpose(1, 2).reshape(x.shape))
        entering = self.ffn_norm(x)
        out: torch.Tensor = x + self.w2(nn.functional.silu(self.w1(entering)) * self.w3(entering))
        return out


def _contexts() -> Any:
    products = {False: 0, True: 0}

    def policy(context: Any, operation: Any, *_: Any, **__: Any) -> CheckpointPolicy:
        if operation is torch.ops.aten.mm.default:
            products[context.is_recompute] += 1
            keeps = products[context.is_recompute] % 2 == 1
        else:
            keeps = "scaled_dot_product" in str(operation)
        return CheckpointPolicy.MUST_SAVE if keeps else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


def _kept_by_torch() -> int:
    """Bytes that autograd keeps of one compiled block beside its weights."""
    block = Block()
    compiled = torch.compile(block, backend="aot_eager")
    x = torch.randn(BATCH, SEQ, HIDDEN, requires_grad=True)
    compiled(x).sum().backward()
    weights, kept = {parameter.data_ptr() for parameter in block.parameters()}, dict[int, int]()

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.data_ptr() not in weights:
            kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        compiled(x)
    return sum(kept.values())


def test_a_compiled_block_keeps_what_the_engine_says() -> None:
    arch = Arch(1, HIDDEN, HEADS, HEADS, HIDDEN // HEADS, FFN, 128)
    plan = Plan(
        Axes(), Strategy.DDP, precision="fp32", recompute=Recompute.SELECTIVE, micro_batch=BATCH,
        global_batch=BATCH, seq=SEQ, runtime=Runtime(Framework.TORCH, compile=True),
    )  # fmt: skip
    assert contents_of(load_of(arch, plan))[0].kept == _kept_by_torch()
