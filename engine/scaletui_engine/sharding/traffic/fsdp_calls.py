"""When FSDP gathers and reduces a unit in a step of several microbatches.

Source: torch 2.13, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py (`unshard`, `post_forward`,
`post_backward`) and FSDPModule's set_reshard_after_backward and set_requires_gradient_sync.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.sharding.traffic.call import Call
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.sharding.traffic.step import Unit

_AR, _AG, _RS = Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER


@dataclass(frozen=True, slots=True)
class Habits:
    """What decides how often; every microbatch gathers and reduces where nothing says otherwise."""

    microbatches: int
    reshard_after_forward: bool = True
    """Of the layers; the root has its own."""
    reshard_root: bool = False
    reshard_after_backward: bool = True
    """False: weights that are whole stay so until the last microbatch."""
    sync_every: bool = True
    """False: gradients are reduced after the last microbatch alone."""
    gather_bytes: int = 4
    reduce_bytes: int = 4

    def regathers(self, unit: Unit) -> bool:
        """Whether a unit is gathered again for the backward pass."""
        return self.reshard_after_forward and (self.reshard_root or not unit.root)


@dataclass(frozen=True, slots=True)
class Degrees:
    """The ranks of the collectives."""

    shards: int
    replicas: int = 1


def unit_calls(unit: Unit, degrees: Degrees, habits: Habits, stays: int = 0) -> Iterator[Call]:
    """The collectives of equal units, `stays` of which are kept whole between the passes all the same."""
    times = habits.microbatches
    synced = times if habits.sync_every else 1
    if degrees.shards > 1:
        payload = unit.padded * habits.gather_bytes
        forward = times if habits.reshard_after_backward else 1
        yield Call(
            _AG, payload * unit.count, degrees.shards, forward, "weights_forward", unit.count, unit.root
        )
        again = unit.count - stays if habits.regathers(unit) else 0
        if again:
            yield Call(_AG, payload * again, degrees.shards, times, "weights_backward", again, unit.root)
        reduced = unit.padded * habits.reduce_bytes * unit.count
        yield Call(_RS, reduced, degrees.shards, synced, "gradients", unit.count, unit.root)
    if degrees.replicas > 1:
        part = ceil_div(unit.padded, degrees.shards) * habits.reduce_bytes
        yield Call(_AR, part * unit.count, degrees.replicas, synced, "gradient_shards", unit.count, unit.root)
