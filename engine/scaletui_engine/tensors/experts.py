"""A mixture of experts: the router, the routed experts and the shared ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.model import Role, TpRule
from scaletui_engine.tensors.linear import Linear
from scaletui_engine.tensors.mlp import Block, mlp

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Moe, Tensor


def experts(arch: Arch, moe: Moe) -> tuple[Tensor, ...]:
    """Router (experts, hidden), a block for each routed and each shared expert, their gate (1, hidden)."""
    layers = expert_layers(arch, moe)
    router = Linear("layers.{layer}.router", Role.ROUTER, TpRule.REPLICATED, layers)
    routed = Block("layers.{layer}.experts.{expert}", Role.EXPERT, moe.ffn, layers, moe.experts)
    shared = Block(
        "layers.{layer}.shared_experts.{expert}", Role.SHARED_EXPERT, moe.shared_ffn, layers, moe.shared
    )
    gate = Linear("layers.{layer}.shared_gate", Role.SHARED_EXPERT, TpRule.REPLICATED, layers)
    return (
        *router.tensors(moe.experts, arch.hidden, moe.router_bias),
        *mlp(arch, routed),
        *(mlp(arch, shared) if moe.shared else ()),
        *(gate.tensors(1, arch.hidden) if moe.shared_gate else ()),
    )


def expert_layers(arch: Arch, moe: Moe) -> range:
    """The layers with experts: after the leading dense ones, the last of each group of `every`."""
    return range(moe.first_dense + moe.every - 1, arch.layers, moe.every)
