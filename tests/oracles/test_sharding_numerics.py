"""The block that the simulations compare ranks with, forward and backward, against torch's autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from scaletui_engine.numerics import block
from scaletui_engine.numerics.autograd import Var
from scaletui_engine.numerics.wire_log import WireLog

pytestmark = pytest.mark.torch


def in_torch(x: torch.Tensor, held: dict[str, torch.Tensor]) -> torch.Tensor:
    def norm(value: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        return value * torch.rsqrt(value.pow(2).mean(-1, keepdim=True) + 1e-6) * gain

    width = block.HIDDEN // block.HEADS
    inside = norm(x, held["attention_norm"])
    q, k, v = (
        (inside @ held[name]).view(block.SEQ, -1, width).transpose(0, 1) for name in ("wq", "wk", "wv")
    )
    scores = q @ k.transpose(1, 2) * width**-0.5 + torch.full((block.SEQ, block.SEQ), -torch.inf).triu(1)
    x = x + (torch.softmax(scores, -1) @ v).transpose(0, 1).reshape(block.SEQ, -1) @ held["wo"]
    return x + torch.relu(norm(x, held["ffn_norm"]) @ held["w1"]) @ held["w2"]


def test_gradients_of_a_block() -> None:
    whole, x = block.block_weights(), np.random.default_rng(1).normal(size=(block.SEQ, block.HIDDEN))
    held = block.cut(whole, 1)
    given = Var(x[None])
    out = block.block(given, held, block.PLAIN, WireLog(1))
    out.backward(np.sin(out.data))
    theirs = {name: torch.tensor(array, requires_grad=True) for name, array in whole.items()}
    given_there = torch.tensor(x, requires_grad=True)
    expected = in_torch(given_there, theirs)
    expected.backward(torch.sin(expected.detach()))
    np.testing.assert_allclose(out.data[0], expected.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(given.grad[0], given_there.grad.numpy(), atol=1e-12)
    for name, var in held.items():
        np.testing.assert_allclose(block.joined(name, var.grad), theirs[name].grad.numpy(), atol=1e-11)
