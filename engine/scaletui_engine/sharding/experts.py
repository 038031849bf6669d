"""Which rank holds which experts: contiguous runs, the same in Megatron, torchtitan and DeepSpeed."""

from __future__ import annotations

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.validate.nearest import nearest_divisor


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
