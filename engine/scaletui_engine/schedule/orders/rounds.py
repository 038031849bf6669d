"""Microbatches in groups: the depth-first tables of interleaved schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, ValueRangeError, brief

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request


def virtual_order(microbatches: int, group: int, chunks: int) -> list[tuple[int, int]]:
    """(chunk, microbatch) of every virtual microbatch: groups outside, chunks inside, microbatches innermost.

    Megatron-LM's schedule table (megatron/core/pipeline_parallel/schedules.py, get_schedule_table).
    """
    return [
        (chunk, k)
        for start in range(0, microbatches, group)
        for chunk in range(chunks)
        for k in range(start, min(start + group, microbatches))
    ]


def torch_group(request: Request) -> int:
    """Microbatches a round in PyTorch: m // max(1, m // ranks). Raises DivisibilityError."""
    microbatches, ranks = request.shape.microbatches, request.shape.ranks
    count = max(1, microbatches // ranks)
    if microbatches % count:
        nearest = _nearest_rounds(microbatches, ranks)
        raise DivisibilityError(
            f"{request.name} deals microbatches in {microbatches} // {ranks} = {count} rounds:"
            f" {microbatches} % {count} = {microbatches % count}",
            f"{nearest} microbatches",
        )
    return microbatches // count


def _nearest_rounds(microbatches: int, ranks: int) -> int:
    fits = (m for m in range(1, 2 * microbatches + ranks) if m % max(1, m // ranks) == 0)
    return min(fits, key=lambda m: (abs(m - microbatches), m))


def megatron_group(request: Request) -> int:
    """Megatron-LM's group: ranks <= group <= microbatches, the remainder 0 or at least ranks."""
    shape = request.shape
    ranks, microbatches = shape.ranks, shape.microbatches
    if microbatches < ranks:
        raise ValueRangeError(
            f"{request.name} needs microbatches ({microbatches}) >= pipeline ranks ({ranks}):"
            " raise the microbatches or lower the ranks",
            f"{ranks} microbatches",
        )
    group = ranks if request.choices.group is None else request.choices.group
    if not ranks <= group <= microbatches:
        raise ValueRangeError(
            f"group {brief(group)} is outside ranks {ranks} ... microbatches {microbatches}", f"{ranks}"
        )
    _require_remainder(request, group)
    return group


def _require_remainder(request: Request, group: int) -> None:
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    rest = microbatches % group
    if 0 < rest < ranks:
        down, up = microbatches - rest, microbatches - rest + ranks
        nearest = down if rest <= up - microbatches else up
        raise DivisibilityError(
            f"{request.name} needs microbatches ({microbatches}) % group ({group}) = {rest}"
            f" to be 0 or >= pipeline ranks ({ranks})",
            f"{nearest} microbatches",
        )
