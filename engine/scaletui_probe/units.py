"""A unit: parameters that a sharding wrapper gathers and reduces together, whichever wrapper it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from scaletui_probe import deepspeed, fsdp1, fsdp2

if TYPE_CHECKING:
    from collections.abc import Iterable


class Unit(Protocol):
    """What the probe asks of FSDP2 groups, FSDP1 flat parameters and ZeRO groups; None in a list is
    nothing.

    What is unsharded may come one by one, for other threads to look at: see `fsdp2`.
    """

    wrapper: str

    def parameters(self) -> list[Any]: ...
    def sharded_weights(self) -> list[Any]: ...
    def master_weights(self) -> list[Any]: ...
    def sharded_gradients(self) -> list[Any]: ...
    def unsharded_weights(self) -> Iterable[Any]: ...
    def unsharded_gradients(self) -> Iterable[Any]: ...
    def unreduced_gradients(self) -> list[Any]: ...
    def is_unsharded(self) -> bool: ...
    def mesh(self) -> Any: ...
    def facts(self) -> dict[str, Any]: ...


def units(optimizers: list[Any]) -> list[Unit]:
    """All units of the job, in the order of a record's `unsharded_groups` bits."""
    return [*fsdp2.units(), *fsdp1.units(optimizers), *deepspeed.units(optimizers)]


def group_bits(job: list[Unit]) -> tuple[int, bytes]:
    """How many units are unsharded, and the bits that say which."""
    bits = 0
    for index, unit in enumerate(job[:512]):
        if unit.is_unsharded():
            bits |= 1 << index
    return sum(unit.is_unsharded() for unit in job), bits.to_bytes(64, "little")
