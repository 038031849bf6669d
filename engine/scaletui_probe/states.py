"""The bytes of each part of the job's memory, by storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaletui_probe import fsdp2
from scaletui_probe.storage import Held, StorageCount
from scaletui_probe.units import Unit, units

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def optimized(self) -> Iterator[Any]:
        """The parameters that optimizers update."""
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                yield from group["params"]


def look(optimizers: list[Any], outermost: list[Any]) -> Job:
    """The job as these optimizers, these modules and PyTorch's registry show it."""
    known = {id(module): module for module in (*outermost, *fsdp2.modules())}
    return Job(optimizers, list(known.values()), units(outermost))


def before_step(job: Job) -> dict[str, Held]:
    """Gradients, counted before the step: a zero_grad after it drops them. For the training thread
    alone."""
    count = StorageCount()
    unsharded = [[unit.unsharded_gradients(), unit.unreduced_gradients()] for unit in job.units]
    held = {"unsharded_gradients": count.add(unsharded)}
    reduced = [unit.sharded_gradients() for unit in job.units]
    held["gradients"] = count.add([reduced, [parameter.grad for parameter in job.parameters()]])
    return held


def after_step(job: Job) -> dict[str, Held]:
    """Weights, optimizer, master weights, buffers and unsharded weights, counted after the step."""
    count = StorageCount()
    weights = count.add([unit.sharded_weights() for unit in job.units])
    unsharded = count.add([unit.unsharded_weights() for unit in job.units])
    for module in job.modules:
        weights = _sum(weights, count.add(list(module.parameters())))
    weights, master = _optimized(job, count, weights)
    master = _sum(master, count.add([_entries(optimizer, master=True) for optimizer in job.optimizers]))
    return {
        "weights": weights,
        "unsharded_weights": unsharded,
        "master_weights": master,
        "optimizer": count.add([_entries(optimizer, master=False) for optimizer in job.optimizers]),
        "buffers": count.add([list(module.buffers()) for module in job.modules]),
    }


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


def unsharded_now(job_units: list[Unit]) -> dict[str, Held]:
    """Unsharded weights and gradients at any moment, from any thread."""
    count = StorageCount()
    return {
        "unsharded_weights": count.add([unit.unsharded_weights() for unit in job_units]),
        "unsharded_gradients": count.add([unit.unsharded_gradients() for unit in job_units]),
    }


def sharded_gradients_now(job_units: list[Unit]) -> Held:
    """Gradients of the shards at any moment, from any thread."""
    return StorageCount().add([unit.sharded_gradients() for unit in job_units])


def measures(held: dict[str, Held], on_accelerator: bool) -> dict[str, int]:
    """The parts under the names of the layout; a CPU job has no figures for a device."""
    found = {}
    for name, part in held.items():
        found[f"{name}_host"] = part.host
        if on_accelerator or part.device:
            found[f"{name}_device"] = part.device
    return found
