"""PipeDream (Harlap et al., arXiv:1806.03377): 1F1B that never drains, with versions of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.orders import one_f_one_b

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows
    from scaletui_engine.schedule.shape import Shape


def rows(request: Request) -> Rows:
    """Section 3.2: rank r admits ranks - r microbatches, then alternates backward and forward."""
    return one_f_one_b.rows(request)


def weight_versions(shape: Shape) -> tuple[int, ...]:
    """Section 3.3: a backward sees the weights of its forward, so rank r keeps ranks - r versions."""
    return tuple(min(shape.microbatches, shape.ranks - rank) for rank in range(shape.ranks))
