"""How the pipeline cuts a model: what each rank holds of it, as numbers by which equal ranks are found."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.memory.census import moe_layers
from scaletui_engine.plan import Axes, Plan
from scaletui_engine.stages import rank_stages

if TYPE_CHECKING:
    from scaletui_engine.model import Arch
    from scaletui_engine.plan import Split
    from scaletui_engine.stages import Stage

Key = tuple[int, int, int, bool, bool]
"""Dense layers, expert layers, stages, embedding, head: what makes two ranks equal."""


def keys_of(arch: Arch, plan: Plan) -> tuple[Key, ...]:
    """The key of every pipeline rank; nothing but these four fields of the plan decides them."""
    return _keys(arch, plan.axes.pp, plan.chunks, plan.schedule, plan.layer_split)


@lru_cache(maxsize=256)
def _keys(
    arch: Arch, ranks: int, chunks: int, schedule: str, split: Split | tuple[int, ...]
) -> tuple[Key, ...]:
    experts = moe_layers(arch)
    cut = Plan(Axes(pp=ranks), schedule=schedule, chunks=chunks, layer_split=split)
    return tuple(_key(stages, experts) for stages in rank_stages(arch.layers, cut))


def _key(stages: tuple[Stage, ...], experts: range) -> Key:
    moe = sum(_overlap(experts, stage.layers) for stage in stages) if experts else 0
    dense = sum(len(stage.layers) for stage in stages) - moe
    embedding, head = any(stage.embedding for stage in stages), any(stage.head for stage in stages)
    return (dense, moe, len(stages), embedding, head)


def _overlap(layers: range, window: range) -> int:
    """Members of `layers` inside the gapless `window`."""
    first = max(layers.start, window.start + (layers.start - window.start) % layers.step)
    return len(range(first, min(layers.stop, window.stop), layers.step))
