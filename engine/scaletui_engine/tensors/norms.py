"""Norms between blocks: a gain, and a bias where the norm has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.model import Norm, Role, Tensor, TpRule

if TYPE_CHECKING:
    from scaletui_engine.model import Arch


def norm(arch: Arch, name: str, layers: range | None) -> tuple[Tensor, ...]:
    """Shapes (hidden,), held whole by every rank: Megatron's sequence parallelism splits activations only."""
    gain = Tensor(name, (arch.hidden,), Role.NORM, TpRule.REPLICATED, layers)
    if arch.norm is Norm.RMSNORM:
        return (gain,)
    return (gain, Tensor(f"{name}.bias", (arch.hidden,), Role.NORM, TpRule.REPLICATED, layers))


def layer_norm(arch: Arch, name: str) -> tuple[Tensor, ...]:
    """The norm of that name in every layer."""
    return norm(arch, f"layers.{{layer}}.{name}", range(arch.layers))
