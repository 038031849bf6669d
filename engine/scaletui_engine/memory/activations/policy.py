"""What a recompute policy leaves of a layer's saved tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.activations.saved import Saved
from scaletui_engine.model import Role
from scaletui_engine.plan import Recompute
from scaletui_engine.runtime import Framework

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.memory.census import LocalTensor, Unit
    from scaletui_engine.memory.load import Load

_KERNEL: Final = ("attention.output", "attention.log_sum_exp")
_WITHIN: Final = {"moe": ("moe", "moe_act", "shared_experts")}
"""What a recomputed module contains: Megatron runs all of a MoE layer again, its shared experts included
(megatron/core/transformer/moe/moe_layer.py, `custom_forward`)."""
AFTER_BLOCKS: Final = 4
"""Norms of a layer that has them behind its blocks as well (Gemma)."""
_MATRICES: Final = (Role.ATTENTION, Role.MLP, Role.SHARED_EXPERT)


def kept(everything: tuple[Saved, ...], unit: Unit, load: Load) -> tuple[Saved, ...]:
    """The tensors that stay from the forward to the backward pass."""
    policy = load.plan.recompute
    if policy is Recompute.NONE:
        return everything
    entering = tuple(saved for saved in everything if saved.module == "input")
    if policy is Recompute.FULL:
        return entering
    if load.framework is Framework.TORCH and not load.plan.runtime.recompute_modules:
        return (*entering, *per_op(everything, unit, load))
    named = load.plan.runtime.recompute_modules or ("core_attn",)
    modules = {part for module in named for part in _WITHIN.get(module, (module,))}
    return tuple(saved for saved in everything if saved.module not in modules)


def per_op(everything: tuple[Saved, ...], unit: Unit, load: Load) -> Iterable[Saved]:
    """torch's selective checkpointing by operation, as torchtitan configures it.

    Attention's own results are kept, and the outputs of every other matrix product in the order in which they
    run, the first one included (torchtitan, models/llama/parallelize_llama.py, `_get_custom_policy`); with TP
    the reduce-scattered results of the row-parallel products as well. Products with a bias are addmm, which
    the policy does not name.
    """
    yield from (saved for saved in everything if saved.name in _KERNEL)
    width, unread = load.widths, _drops_unread(load)
    products = [tensor for tensor in unit.tensors if _is_product(tensor, unit)]
    for product in products[::2]:
        if not (unread and _ends_layer(product)):
            name = f"product.{product.name.rpartition('.')[2]}"
            yield Saved(name, width.whole(product.shape[0]), "product")
    if load.tp > 1:
        yield Saved("product.reduced", (1 if unread else 2) * width.outer(load.arch.hidden), "product")


def _drops_unread(load: Load) -> bool:
    """Whether results that are only added to the residual stream go.

    Eager checkpointing caches whatever its policy names; a compiled graph is cut where the backward pass
    reads it, and nothing reads a sum's operands (torch/_functorch/partitioners.py, `solve_min_cut`). A norm
    behind the block does read them.
    """
    runtime = load.plan.runtime
    return (runtime.compile or runtime.traced) and load.arch.norms_per_layer != AFTER_BLOCKS


def _ends_layer(product: LocalTensor) -> bool:
    """Whether a product is the feed-forward block's last one."""
    return product.role is not Role.ATTENTION and product.name.endswith("w2")


def _is_product(tensor: LocalTensor, unit: Unit) -> bool:
    biased = any(other.name == f"{tensor.name}.bias" for other in unit.tensors)
    return len(tensor.shape) == 2 and tensor.role in _MATRICES and not biased
