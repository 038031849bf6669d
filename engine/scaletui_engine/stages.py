"""Which layers, embedding and output each pipeline stage holds, and which stages each rank holds.

Stage counts follow the command line's words: `pp` ranks with `chunks` chunks each make pp x chunks
stages, numbered in the order of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, brief
from scaletui_engine.plan import Split
from scaletui_engine.schedule_rules import Placement, schedule_rule

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan


@dataclass(frozen=True, slots=True)
class Stage:
    """A gapless part of the model."""

    index: int
    layers: range
    embedding: bool
    """Holds the token and position tables."""
    head: bool
    """Holds the last norm and the output projection."""


def layer_counts(layers: int, stages: int, split: Split | tuple[int, ...] = Split.EVEN) -> tuple[int, ...]:
    """Layers of every stage. Raises DivisibilityError where the rule cannot deal `layers` to `stages`."""
    if isinstance(split, tuple):
        return _explicit(layers, stages, split)
    if split is Split.FRONT:
        return _front(layers, stages)
    if split is Split.ENDS:
        return _ends(layers, stages)
    if layers % stages:
        raise DivisibilityError(
            f"{layers} layers / {stages} stages = {layers / stages:.4g}, not a whole number",
            _nearest_split(layers, stages),
        )
    return (layers // stages,) * stages


def _explicit(layers: int, stages: int, split: tuple[int, ...]) -> tuple[int, ...]:
    if len(split) != stages:
        raise DivisibilityError(f"layer_split names {len(split)} stages, but pp x chunks = {stages}")
    if sum(split) != layers:
        raise DivisibilityError(
            f"layer_split adds up to {brief(sum(split))} layers, but the model has {layers}"
        )
    return split


def _front(layers: int, stages: int) -> tuple[int, ...]:
    """torchtitan's remainder-first deal, and DeepSpeed's `partition_uniform`."""
    if layers < stages:
        raise DivisibilityError(
            f"{layers} layers < {stages} stages: a stage would be empty", f"{layers} stages"
        )
    base, rest = divmod(layers, stages)
    return tuple(base + (stage < rest) for stage in range(stages))


def _ends(layers: int, stages: int) -> tuple[int, ...]:
    """Deal layers + 2 and take one off the first and the last stage (torchtitan, weights 1 and 1)."""
    if stages == 1:
        return (layers,)
    if layers + 2 < 2 * stages:
        least = f"{layers} layers + embedding + output = {layers + 2} < 2 x {stages} stages"
        raise DivisibilityError(f"{least}: a stage would have no layer", f"{(layers + 2) // 2} stages")
    counts = list(_front(layers + 2, stages))
    counts[0] -= 1
    counts[-1] -= 1
    return tuple(counts)


def _nearest_split(layers: int, stages: int) -> str:
    divisors = [degree for degree in range(1, layers + 1) if layers % degree == 0]
    nearest = min(divisors, key=lambda degree: (abs(degree - stages), degree))
    if layers + 2 >= 2 * stages and stages > 1:
        counts = _ends(layers, stages)
        return f'{nearest} stages, or layer_split "ends" ({counts[0]}, {counts[1]}, ... {counts[-1]})'
    return f"{nearest} stages"


@lru_cache(maxsize=1024)
def stage_layers(layers: int, plan: Plan) -> tuple[Stage, ...]:
    """The model's stages, in its order. Raises DivisibilityError as `layer_counts` does."""
    found: list[Stage] = []
    start, counts = 0, layer_counts(layers, plan.stages, plan.layer_split)
    for index, count in enumerate(counts):
        window = range(start, start + count)
        found.append(Stage(index, window, embedding=index == 0, head=index == len(counts) - 1))
        start += count
    return tuple(found)


@lru_cache(maxsize=1024)
def rank_stages(layers: int, plan: Plan) -> tuple[tuple[Stage, ...], ...]:
    """The stages of every pipeline rank, by the placement of the plan's schedule.

    loop: stage s on rank s % pp. V: rank r holds r and 2 pp - 1 - r, so that embedding and output lie
    on rank 0. bidirectional (DualPipe): rank r holds r and pp - 1 - r, two copies of the model in all.
    """
    stages, ranks = stage_layers(layers, plan), plan.axes.pp
    placement = Placement.LOOP if ranks == 1 else schedule_rule(plan.schedule).placement
    if placement is Placement.BIDIRECTIONAL:
        return tuple((stages[rank], stages[ranks - 1 - rank]) for rank in range(ranks))
    if placement is Placement.V:
        return tuple((stages[rank], stages[2 * ranks - 1 - rank]) for rank in range(ranks))
    return tuple(stages[rank::ranks] for rank in range(ranks))
