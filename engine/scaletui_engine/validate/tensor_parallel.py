"""Tensor parallelism divides what it splits: heads, key/value heads, widths and the vocabulary."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.memory.load import MEGATRON
from scaletui_engine.units import round_up
from scaletui_engine.validate.nearest import divisors, nearest_divisor

if TYPE_CHECKING:
    from scaletui_engine.model import Arch
    from scaletui_engine.scenario import Scenario


def check_tensor_parallel(scenario: Scenario) -> None:
    """Raises DivisibilityError.

    Fewer key/value heads than ranks are replicated, which works out where they divide the degree
    (Megatron-LM attention.py, `num_query_groups < tensor_model_parallel_size`).
    """
    arch, tp = scenario.model.arch, scenario.plan.axes.tp
    if tp == 1:
        return
    nearest = f"tp {_nearest_tp(arch, scenario.cluster.gpus, tp)}"
    for name, size in _widths(arch):
        if size % tp:
            raise DivisibilityError(f"{name} {size} / tp {tp} = {size / tp:.4g}, not a whole number", nearest)
    if not _kv_splits(arch, tp):
        raise DivisibilityError(
            f"kv heads {arch.kv_heads} and tp {tp}: neither divides the other to split or copy evenly",
            nearest,
        )
    _check_fused(scenario)
    _check_vocabulary(scenario)


def _check_fused(scenario: Scenario) -> None:
    """Megatron cuts the rows of queries, keys and values together (attention.py, `linear_qkv`)."""
    arch, tp = scenario.model.arch, scenario.plan.axes.tp
    rows = (arch.heads + 2 * arch.kv_heads) * arch.head_dim
    if scenario.plan.framework in MEGATRON and arch.mla is None and rows % tp:
        raise DivisibilityError(
            f"(heads {arch.heads} + 2 x kv heads {arch.kv_heads}) x head dim {arch.head_dim} / tp {tp} "
            f"= {rows / tp:.4g}, not a whole number",
            f"tp {gcd(rows, tp)}",
        )


def _check_vocabulary(scenario: Scenario) -> None:
    vocab, tp = scenario.model.arch.vocab, scenario.plan.axes.tp
    multiple = scenario.plan.runtime.vocab_multiple
    if vocab < tp:
        raise DivisibilityError(f"vocabulary {vocab} < tp {tp}: a rank would hold no row")
    if multiple is not None and round_up(vocab, multiple) % tp:
        raise DivisibilityError(
            f"vocabulary {vocab} padded to {round_up(vocab, multiple)} (a multiple of {multiple}) "
            f"/ tp {tp} is not a whole number",
            f"vocab_multiple {round_up(multiple, tp)}",
        )


def _widths(arch: Arch) -> tuple[tuple[str, int], ...]:
    """What the column and row rules cut. Routed experts have rules of their own."""
    shared = () if arch.moe is None or not arch.moe.shared else (("shared_ffn", arch.moe.shared_ffn),)
    return (("heads", arch.heads), ("ffn", arch.ffn), *shared)


def _kv_splits(arch: Arch, tp: int) -> bool:
    """Latent attention keeps no key/value heads apart from the query heads."""
    return arch.mla is not None or arch.kv_heads % tp == 0 or tp % arch.kv_heads == 0


def _nearest_tp(arch: Arch, gpus: int, tp: int) -> int:
    good = [
        degree
        for degree in divisors(gpus)
        if _kv_splits(arch, degree) and all(size % degree == 0 for _, size in _widths(arch))
    ]
    return (
        min(good, key=lambda degree: (abs(degree - tp), degree)) if good else nearest_divisor(arch.heads, tp)
    )
