"""Optimizers: how many bytes of state each keeps for a tensor.

States are exact per local tensor: quantised ones carry a scale for every block and a table of codes,
factored ones a row and a column, and Muon treats only the matrices inside the layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.model import Role

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
    block: int = 1
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

    def quantises(self, elements: int) -> bool:
        """Whether a tensor of so many elements is held in `bits`."""
        return self.bits is not None and elements >= self.smallest and elements % self.block == 0

    def bytes_of(self, elements: int, moment: int) -> int:
        """Bytes of state of a flat tensor, its moments `moment` bytes wide where they are not quantised."""
        if self.bits is None or not self.quantises(elements):
            return self.moments * elements * moment
        codes, scales, table = elements * self.bits // 8, elements // self.block, 1 << self.bits
        return self.moments * (codes + _FP32 * (scales + table))


_TORCH: Final = "torch/optim of torch 2.13"
_TORCHAO: Final = "pytorch/ao torchao/optim, adam.py and README.md"
_OPTIMIZERS: Final = (
    Optimizer("adamw", 2, f"{_TORCH}, adamw.py", step=True),
    Optimizer("adamw-fused", 2, f"{_TORCH}, adamw.py with fused=True", step=True, step_on_device=True),
    Optimizer("adam8bit", 2, f"{_TORCHAO}, AdamW8bit", bits=8, block=256, smallest=4096, step=True),
    Optimizer("adam4bit", 2, f"{_TORCHAO}, AdamW4bit", bits=4, block=128, smallest=4096, step=True),
    Optimizer("sgd", 0, f"{_TORCH}, sgd.py"),
    Optimizer("momentum", 1, f"{_TORCH}, sgd.py with momentum"),
    Optimizer("adafactor", 1, f"{_TORCH}, _adafactor.py; arXiv:1804.04235", factored=True, step=True),
    Optimizer("lion", 1, "arXiv:2302.06675, algorithm 2"),
    Optimizer("muon", 1, f"{_TORCH}, _muon.py; AdamW for tables, output and vectors", matrices=True),
)
_BY_ID: Final = {optimizer.id: optimizer for optimizer in _OPTIMIZERS}


def optimizer_ids() -> tuple[str, ...]:
    """Ids of all optimizers, the default first."""
    return tuple(_BY_ID)


def optimizer(name: str) -> Optimizer:
    """The optimizer of that id. Raises UnknownNameError."""
    try:
        return _BY_ID[name]
    except KeyError:
        raise UnknownNameError("optimizer", name, _BY_ID) from None


def state_bytes(optimizer: Optimizer, recipe: Precision, shape: tuple[int, ...], role: Role) -> int:
    """Bytes of the moments kept for a local tensor of that shape; step counts are `step_bytes`.

    A tensor that a quantising optimizer leaves alone keeps moments of the weights' own type.
    """
    elements, (first, second) = prod(shape), recipe.moments
    if optimizer.bits is not None:
        return optimizer.bytes_of(elements, recipe.weights)
    if optimizer.factored:
        kept = elements // shape[-1] + elements // shape[-2] if len(shape) > 1 and elements else elements
        return kept * second
    as_adam = optimizer.matrices and (len(shape) < 2 or role in _TABLES)
    if optimizer.moments == 2 or as_adam:
        return elements * (first + second)
    return optimizer.bytes_of(elements, first)


def step_bytes(optimizer: Optimizer, tensors: int) -> int:
    """Bytes of the step counts of so many tensors, on the device or the CPU as `step_on_device` says."""
    return _FP32 * tensors if optimizer.step else 0
