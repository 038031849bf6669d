"""Which rank holds which experts: contiguous runs, the same in Megatron, torchtitan and DeepSpeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.validate.nearest import nearest_divisor

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def experts_of(experts: int, ep: int, rank: int) -> range:
    """Experts of a rank of the ep axis (Megatron-LM moe/moe_layer.py). Raises DivisibilityError."""
    if ep < 1 or experts < 1 or experts % ep:
        raise DivisibilityError(
            f"{experts} experts / ep {ep} = {experts / max(ep, 1):.4g}, not a whole number",
            f"ep {nearest_divisor(max(experts, 1), ep)}",
        )
    each = experts // ep
    return range(rank * each, (rank + 1) * each)


def rank_of_expert(experts: int, ep: int, expert: int) -> int:
    """The rank of the ep axis that holds an expert."""
    return expert // len(experts_of(experts, ep, 0))


def apart(load: Load) -> bool:
    """Whether experts are gathered and reduced among other ranks than the rest of their layer.

    With ep 1 the whole layer is one unit on one mesh (torchtitan b5bcd76, distributed/fsdp.py, `apply_fsdp`;
    Megatron-LM d98e8a6, core/tensor_parallel/layers.py: `allreduce` of a parameter).
    """
    return load.plan.axes.ep > 1 or load.etp != load.tp
