"""The tensors that one pipeline stage, or one pipeline rank with several, holds."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.model import Role
from scaletui_engine.tensors.ends import TOKEN_TABLE
from scaletui_engine.tensors.model import tensors

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Tensor
    from scaletui_engine.stages import Stage

_FIRST = (Role.EMBEDDING, Role.POSITION)


@lru_cache(maxsize=1024)
def stage_tensors(arch: Arch, stages: tuple[Stage, ...]) -> tuple[Tensor, ...]:
    """The tensors of those stages together, each with the layers that lie in them.

    A tied output projection that lies away from the token table is a second copy of it, listed as an
    `lm_head` (Megatron-LM keeps both and reduces their gradients over the embedding group).
    """
    held = [part for tensor in tensors(arch) for part in _held(tensor, stages)]
    if arch.tie and _any_head(stages) and not _any_embedding(stages):
        table = next(tensor for tensor in tensors(arch) if tensor.name == TOKEN_TABLE)
        held.append(replace(table, name="output", role=Role.LM_HEAD))
    return tuple(held)


def _held(tensor: Tensor, stages: tuple[Stage, ...]) -> tuple[Tensor, ...]:
    if tensor.layers is None:
        wanted = _any_embedding(stages) if tensor.role in _FIRST else _any_head(stages)
        return (tensor,) if wanted else ()
    shared = (_intersection(tensor.layers, stage.layers) for stage in stages)
    return tuple(replace(tensor, layers=layers) for layers in shared if len(layers))


def _intersection(layers: range, window: range) -> range:
    """The members of `layers` inside the gapless `window`, with their step."""
    return layers[_at_least(layers, window.start) : _at_least(layers, window.stop)]


def _at_least(layers: range, bound: int) -> int:
    """Index of the first member of `layers` not below `bound`."""
    return min(max(-(-(bound - layers.start) // layers.step), 0), len(layers))


def _any_embedding(stages: tuple[Stage, ...]) -> bool:
    return any(stage.embedding for stage in stages)


def _any_head(stages: tuple[Stage, ...]) -> bool:
    return any(stage.head for stage in stages)
