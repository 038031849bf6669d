"""The bytes of each part of the job's memory, by storage.

Modules are known from FSDP2's registry alone. In any other job (plain, DDP, FSDP1, DeepSpeed) weights,
gradients and optimizer are those of the parameters that optimizers hold: exact for them, while frozen
weights that no optimizer holds cannot be seen, buffers are not available, and full-precision copies of
weights count as weights, but for DeepSpeed's, which are known. So it is for what an FSDP2 job has outside
the modules that `fully_shard` was applied to.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from scaletui_probe import deepspeed, fsdp1, fsdp2
from scaletui_probe.storage import Held, StorageCount
from scaletui_probe.units import Unit, units

if TYPE_CHECKING:
    from collections.abc import Iterator

SOMETIMES = ("buffers", "master_weights")
"""Parts that are counted only where they can be told."""
UNSHARDED = ("unsharded_weights", "unsharded_gradients")
_HALF = ("torch.bfloat16", "torch.float16")


class Job(NamedTuple):
    """What the job holds at a moment; kept only for as long as it is looked at, so that nothing lives
    longer."""

    optimizers: list[Any]
    modules: list[Any]
    units: list[Unit]

    def parameters(self) -> Iterator[Any]:
        """Every parameter of the modules, then of the units and the optimizers; some come twice."""
        for module in self.modules:
            yield from module.parameters()
        for unit in self.units:
            yield from unit.parameters()
        yield from self.optimized()

    def is_whole(self) -> bool:
        """Whether the modules hold all that is optimized, so that no part of the model is out of sight."""
        known = {id(parameter) for module in self.modules for parameter in module.parameters()}
        return bool(known) and all(id(parameter) in known for parameter in self.optimized())

    def optimized(self) -> Iterator[Any]:
        """The parameters that optimizers update; not DeepSpeed's flat partitions of them."""
        for optimizer in self.optimizers:
            for group in optimizer.param_groups if deepspeed.owner(optimizer) is None else ():
                yield from group["params"]

    def is_readable(self) -> bool:
        """Whether no optimizer works below a wrapper whose parts are not known."""
        return all(deepspeed.is_readable(optimizer) for optimizer in self.optimizers)


def look(optimizers: list[Any]) -> Job:
    """The job as these optimizers and FSDP2's registry show it."""
    return Job(optimizers, fsdp2.roots(), units(optimizers))


def before_step(job: Job) -> dict[str, Held]:
    """Gradients, counted before the step: a zero_grad after it drops them. For the training thread
    alone."""
    count = StorageCount()
    unreduced = (unit.unreduced_gradients() for unit in job.units)
    kept = count.add_each(_unsharded_gradients(job.units))
    held = {"unsharded_gradients": _sum(kept, count.add_each(unreduced))}
    reduced = [unit.sharded_gradients() for unit in job.units]
    held["gradients"] = count.add([reduced, [parameter.grad for parameter in job.parameters()]])
    return held


def after_step(job: Job) -> dict[str, Held]:
    """Weights, optimizer and unsharded weights, counted after the step; buffers and master weights where
    they can be told."""
    count = StorageCount()
    weights = count.add([unit.sharded_weights() for unit in job.units])
    unsharded = count.add_each(_unsharded_weights(job.units))
    for module in job.modules:
        weights = _sum(weights, count.add(list(module.parameters())))
    master = count.add([unit.master_weights() for unit in job.units])
    weights, copies = _optimized(job, count, weights)
    named = count.add([_entries(optimizer, master=True) for optimizer in job.optimizers])
    master = _sum(_sum(master, copies), named)
    held = {"weights": weights, "unsharded_weights": unsharded}
    if job.modules or any(master):
        held["master_weights"] = master
    held["optimizer"] = count.add([_entries(optimizer, master=False) for optimizer in job.optimizers])
    if job.is_whole():
        held["buffers"] = count.add([list(module.buffers()) for module in job.modules])
    return held


def _optimized(job: Job, count: StorageCount, weights: Held) -> tuple[Held, Held]:
    """Optimizers' parameters that no module holds: full-precision copies when the modules compute in
    half."""
    master = Held()
    half = any(str(p.dtype) in _HALF for module in job.modules for p in module.parameters())
    for parameter in job.optimized():
        held = count.add(parameter)
        if half and str(parameter.dtype) == "torch.float32":
            master = _sum(master, held)
        else:
            weights = _sum(weights, held)
    return weights, master


def _entries(optimizer: Any, master: bool) -> list[Any]:
    """The optimizer's state: moments, steps and the like, or the copies that it calls master weights."""
    return [
        value
        for state in list(optimizer.state.values())
        if isinstance(state, dict)
        for name, value in list(state.items())
        if ("master" in str(name)) is master
    ]


def _sum(left: Held, right: Held) -> Held:
    return Held(left.device + right.device, left.host + right.host)


def unsharded_is_known(job: Job) -> bool:
    """Whether all that can be unsharded is in sight."""
    return not fsdp1.hides_flat(job.optimized())


def unsharded_now(job_units: list[Unit]) -> dict[str, Held]:
    """Unsharded weights and gradients at any moment, from any thread: what Python objects hold."""
    count = StorageCount()
    return {
        "unsharded_weights": count.add_each(_unsharded_weights(job_units)),
        "unsharded_gradients": count.add_each(_unsharded_gradients(job_units)),
    }


def _unsharded_weights(job_units: list[Unit]) -> Iterator[Any]:
    return chain.from_iterable(unit.unsharded_weights() for unit in job_units)


def _unsharded_gradients(job_units: list[Unit]) -> Iterator[Any]:
    return chain.from_iterable(unit.unsharded_gradients() for unit in job_units)


def sharded_gradients_now(job_units: list[Unit]) -> Held:
    """Gradients of the shards at any moment, for the training thread alone."""
    return StorageCount().add([unit.sharded_gradients() for unit in job_units])


def measures(held: dict[str, Held], on_accelerator: bool) -> dict[str, int]:
    """The parts under the names of the layout; a CPU job has no figures for a device."""
    found = {}
    for name, part in held.items():
        found[f"{name}_host"] = part.host
        if on_accelerator or part.device:
            found[f"{name}_device"] = part.device
    return found
