"""FSDP1's flat parameter: the parameters of a wrapped module in one buffer, cut through their middle.

Source: torch 2.13, torch/distributed/fsdp/_flat_param.py, `_init_flat_param_and_metadata` and `_get_shard`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from scaletui_engine.sharding.chunk import chunk, chunk_size
from scaletui_engine.sharding.flat import FlatBuffer, FlatPart, packed
from scaletui_engine.units import round_up

ALIGN_BYTES: Final = 16
"""With use_orig_params every parameter starts at a multiple of this."""


@dataclass(frozen=True, slots=True)
class FlatParameter:
    """One flat parameter on `world` ranks."""

    buffer: FlatBuffer
    world: int

    @property
    def shard_numel(self) -> int:
        """Elements that every rank stores, padding on the right included."""
        return chunk_size(self.buffer.length, self.world)

    def numel(self, rank: int) -> int:
        """Elements of the buffer in a rank's shard."""
        start, stop = chunk(self.buffer.length, self.world, rank)
        return stop - start

    def padding(self, rank: int) -> int:
        """Elements added on the right of a short shard."""
        return self.shard_numel - self.numel(rank)

    def parts(self, rank: int) -> tuple[FlatPart, ...]:
        """The parameters, or pieces of them, in a rank's shard; one may be absent (pytorch #99779)."""
        return self.buffer.parts(chunk(self.buffer.length, self.world, rank))


def flat_parameter(
    numels: tuple[int, ...], world: int, itemsize: int, *, use_orig_params: bool = True
) -> FlatParameter:
    """The buffer of those parameters in module order, each shared parameter once.

    use_orig_params: starts aligned to 16 bytes and the end to the world size; else no padding at all.
    """
    align = max(ALIGN_BYTES // itemsize, 1) if use_orig_params else 1
    buffer = packed(numels, tuple(range(len(numels))), align)
    if use_orig_params:
        buffer = replace(buffer, length=round_up(buffer.length, world))
    return FlatParameter(buffer, world)
