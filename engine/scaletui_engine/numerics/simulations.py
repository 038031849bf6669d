"""Every simulation by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError, ValueRangeError
from scaletui_engine.numerics import block, data_parallel, fsdp, zero
from scaletui_engine.numerics.expert_dispatch import expert_parallel
from scaletui_engine.numerics.format_casts import format_casts
from scaletui_engine.numerics.linear_pair import column_row
from scaletui_engine.numerics.loss_scaling import loss_scaling
from scaletui_engine.numerics.pipeline import pipeline
from scaletui_engine.numerics.ring_attention import ring_attention
from scaletui_engine.sharding.brief import brief

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.numerics.outcome import Outcome

SIMULATIONS: Final[dict[str, Callable[[int], Outcome]]] = {
    "dp": data_parallel.weighted_mean,
    "ddp": data_parallel.bucketed,
    "accumulation": data_parallel.accumulated,
    "column-row": column_row,
    "tp": block.tensor_parallel,
    "sp": block.sequence_parallel,
    "pp": pipeline,
    "zero1": partial(zero.zero, 1),
    "zero2": partial(zero.zero, 2),
    "zero3": partial(zero.zero, 3),
    "fsdp": fsdp.fsdp,
    "cp": ring_attention,
    "ep": expert_parallel,
    "formats": format_casts,
    "loss-scaling": loss_scaling,
}
MOST_RANKS: Final = 64


def simulate(name: str, ranks: int) -> Outcome:
    """Run one. Raises UnknownNameError, ValueRangeError, and DivisibilityError where ranks do not divide."""
    if name not in SIMULATIONS:
        raise UnknownNameError("simulation", name, SIMULATIONS)
    if not 1 <= ranks <= MOST_RANKS:
        raise ValueRangeError(f"{brief(ranks)} ranks are not in 1 <= ranks <= {MOST_RANKS}")
    return SIMULATIONS[name](ranks)
