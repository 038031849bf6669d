"""DDP: everything replicated, gradients reduced bucket by bucket in the order in which they become ready.

Source: torch 2.13, torch/nn/parallel/distributed.py (`compute_bucket_size_limits`) and csrc reducer.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST_BUCKET: Final = 1 * MIB
"""Cap of the first bucket; `bucket_cap_mb` (25) is that of the others."""
BUCKET: Final = 25 * MIB


def ready_order(count: int) -> Iterable[int]:
    """The order in which a plain stack of layers gets its gradients: last parameter first."""
    return reversed(range(count))


def buckets(sizes: Sequence[float], caps: tuple[float, float] = (FIRST_BUCKET, BUCKET)) -> list[list[int]]:
    """Parameters of every bucket from the second step on; a bucket closes when its size reaches the cap."""
    found: list[list[int]] = []
    current: list[int] = []
    for param in ready_order(len(sizes)):
        current.append(param)
        if sum(sizes[each] for each in current) >= caps[1 if found else 0]:
            found.append(current)
            current = []
    return [*found, current] if current else found


def first_step_buckets(count: int, *, find_unused_parameters: bool = False) -> list[list[int]] | None:
    """The first step reduces one bucket of everything, before the order is known; None with unused ones."""
    return None if find_unused_parameters else [list(ready_order(count))]
