"""Optimizers: how many bytes of state each keeps for a tensor.

States are exact per tensor: quantised ones carry a scale for every block, factored ones a row and a
column, and Muon treats only the matrices inside the layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.model import Role
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.precision import Precision

_FP32: Final = 4
_TABLES: Final = (Role.EMBEDDING, Role.POSITION, Role.LM_HEAD)


@dataclass(frozen=True, slots=True)
class Optimizer:
    """One optimizer's state."""

    id: str
    moments: int
    """Moments a parameter: Adam 2, momentum 1, plain SGD 0."""
    source: str
    bits: int | None = None
    """Bits of a quantised moment; None takes the recipe's bytes."""
    block: int = 0
    """Elements that share one fp32 scale."""
    smallest: int = 0
    """Elements below which a tensor is not quantised."""
    factored: bool = False
    """Keeps a row and a column of the second moment of a matrix in place of it all."""
    matrices: bool = False
    """Treats matrices inside layers with one moment, and everything else as AdamW does."""
    step: bool = False
    """Keeps a 4-byte step count for every tensor."""
    step_on_device: bool = False
    """That count lies on the GPU (fused or capturable); on the CPU otherwise."""


_TORCH: Final = "torch/optim, torch 2.13"
_OPTIMIZERS: Final = (
    Optimizer("adamw", 2, f"{_TORCH} adamw.py", step=True),
    Optimizer("adamw-fused", 2, f"{_TORCH} adamw.py, fused=True", step=True, step_on_device=True),
    Optimizer("adam8bit", 2, "torchao/optim AdamW8bit", bits=8, block=256, smallest=4096, step=True),
    Optimizer("adam4bit", 2, "torchao/optim AdamW4bit", bits=4, block=128, smallest=4096, step=True),
    Optimizer("sgd", 0, f"{_TORCH} sgd.py"),
    Optimizer("momentum", 1, f"{_TORCH} sgd.py, momentum > 0"),
    Optimizer("adafactor", 1, f"{_TORCH} _adafactor.py; arXiv:1804.04235", factored=True, step=True),
    Optimizer("lion", 1, "arXiv:2302.06675, algorithm 2"),
    Optimizer(
        "muon", 1, f"{_TORCH} _muon.py; KellerJordan/Muon: AdamW outside the hidden matrices", matrices=True
    ),
)
_BY_ID: Final = {optimizer.id: optimizer for optimizer in _OPTIMIZERS}


def optimizer_ids() -> tuple[str, ...]:
    """Ids of all optimizers, the default first."""
    return tuple(_BY_ID)


def optimizer(id: str) -> Optimizer:
    """The optimizer of that id. Raises UnknownNameError."""
    try:
        return _BY_ID[id]
    except KeyError:
        raise UnknownNameError("optimizer", id, _BY_ID) from None


def state_bytes(optimizer: Optimizer, recipe: Precision, shape: tuple[int, ...], role: Role) -> int:
    """Bytes of the moments kept for a tensor of that (local) shape; step counts are `step_bytes`."""
    elements = prod(shape)
    if optimizer.bits is not None and elements >= optimizer.smallest and elements % optimizer.block == 0:
        return optimizer.moments * (
            elements * optimizer.bits // 8 + _FP32 * ceil_div(elements, optimizer.block)
        )
    if optimizer.factored and len(shape) > 1:
        return _FP32 * (elements // shape[-1] + elements // shape[-2])
    first, second = recipe.moments
    as_adam = optimizer.moments == 2 or (optimizer.matrices and (len(shape) < 2 or role in _TABLES))
    if as_adam:
        return elements * (first + second)
    return elements * first * optimizer.moments


def step_bytes(optimizer: Optimizer, tensors: int) -> int:
    """Bytes of the step counts of so many tensors."""
    return _FP32 * tensors if optimizer.step else 0
