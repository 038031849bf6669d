"""Parameter counts, summed from the tensor list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.model import Role
from scaletui_engine.tensors.model import tensors

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Tensor

_TABLES = (Role.EMBEDDING, Role.POSITION)


@dataclass(frozen=True, slots=True)
class ParameterCount:
    """Parameters of a model by what they do."""

    total: int
    active: int
    """Those a token visits: routed experts count `topk` of `experts`."""
    embedding: int
    """Token and position tables."""
    lm_head: int
    """Output projection with its bias; 0 where it is tied."""
    tied_head: int
    """Elements of the output matrix, tied or not: what the logits cost in FLOPs."""

    @property
    def non_embedding(self) -> int:
        """All but the tables and the output projection."""
        return self.total - self.embedding - self.lm_head

    @property
    def active_without_embedding(self) -> int:
        """What a token multiplies with: active parameters less the tables that are only looked up."""
        return self.active - self.embedding


@lru_cache(maxsize=256)
def count_parameters(arch: Arch) -> ParameterCount:
    """Counts over `tensors(arch)`."""
    listed = tensors(arch)
    return ParameterCount(
        total=sum(tensor.total for tensor in listed),
        active=sum(_active(tensor, arch) for tensor in listed),
        embedding=sum(tensor.total for tensor in listed if tensor.role in _TABLES),
        lm_head=sum(tensor.total for tensor in listed if tensor.role is Role.LM_HEAD),
        tied_head=arch.vocab * arch.hidden,
    )


def _active(tensor: Tensor, arch: Arch) -> int:
    if not tensor.is_expert or arch.moe is None:
        return tensor.total
    return tensor.total // arch.moe.experts * arch.moe.topk
