"""Bytes that logits and loss take at their peak, counted while torch runs them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.nn.functional import cross_entropy, linear
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.loss import loss_bytes
from scaletui_engine.model import Arch
from scaletui_engine.plan import Axes, Plan, Strategy
from scaletui_engine.runtime import LossKernel, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.torch

TOKENS, VOCAB, HIDDEN, CHUNKS = 512, 2048, 4, 8


class Live(TorchDispatchMode):
    """The most bytes of storages that operations made and that are alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(self, operation: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = operation(*args, **(kwargs or {}))
        tree_map(self._count, made)
        return made

    def _count(self, made: Any) -> None:
        if isinstance(made, torch.Tensor):
            storage = made.untyped_storage()
            if storage._cdata not in self.alive:
                self.alive[storage._cdata] = storage.nbytes()
                weakref.finalize(storage, self.alive.pop, storage._cdata, None)
            self.peak = max(self.peak, sum(self.alive.values()))


def _upcast(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))


def _plain(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return cross_entropy(logits.flatten(0, 1), labels.flatten(0, 1))


def _chunked(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """torchtitan, components/loss.py at e23bb707d."""
    parts = zip(logits.chunk(CHUNKS, dim=1), labels.chunk(CHUNKS, dim=1), strict=True)
    return torch.stack([_upcast(*part) for part in parts]).sum() / CHUNKS


def _peak(loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], *, keeps: bool) -> int:
    """Of the output projection and the loss, forward and backward."""
    weight = torch.randn(VOCAB, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    entering = torch.randn(1, TOKENS, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(VOCAB, (1, TOKENS))
    with Live() as live:
        logits = linear(entering, weight)
        logits = logits.float() if keeps else logits
        value = loss(logits, labels)
        kept = logits if keeps else None
        del logits
        value.backward()
        del kept
    return live.peak


@pytest.mark.parametrize(
    ("kernel", "loss"),
    [
        (LossKernel.UPCAST, _upcast),
        (LossKernel.UPCAST_KEPT, _plain),
        (LossKernel.PLAIN, _plain),
        (LossKernel.CHUNKED, _chunked),
    ],
)
def test_a_logit_costs_what_the_engine_says(
    kernel: LossKernel, loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
) -> None:
    """To 1 percent: labels, the weights' gradient and what is left of the stream are counted as well."""
    runtime = Runtime(loss=kernel, loss_chunks=CHUNKS)
    plan = Plan(Axes(), Strategy.DDP, seq=TOKENS, runtime=runtime)
    said = loss_bytes(load_of(Arch(1, HIDDEN, 1, 1, HIDDEN, HIDDEN, VOCAB), plan))
    found = _peak(loss, keeps=kernel is LossKernel.UPCAST_KEPT)
    assert said == pytest.approx(found, rel=0.01)
