"""Counts the job's states around optimizer steps, and what is unsharded between them, within a budget of
time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scaletui_probe import states
from scaletui_probe.budget import Budget
from scaletui_probe.layout import Reason
from scaletui_probe.units import group_bits

if TYPE_CHECKING:
    from scaletui_probe.modules import ModuleWatch
    from scaletui_probe.optimizers import Optimizers
    from scaletui_probe.record import Measures
    from scaletui_probe.storage import Held

_HOOK_SHARE = 0.002
_THREAD_SHARE = 0.001
_ALWAYS = 2
"""Steps that are counted whatever it costs: the first makes the optimizer's state, the second runs as all
others do."""


class Census:
    """The last count of every part, and when the next is due."""

    def __init__(self, optimizers: Optimizers, modules: ModuleWatch) -> None:
        self._optimizers = optimizers
        self._modules = modules
        self._in_hooks = Budget(_HOOK_SHARE)
        self._in_thread = Budget(_THREAD_SHARE)
        self._gradients: dict[str, Held] | None = None
        self._cost_ns = 0
        self._held: dict[str, Held] = {}
        self._counted_at = 0
        self._bits = b""
        self._unsharded_groups = 0
        self._python_gradients = False

    def look(self, also: Any = None) -> states.Job:
        """The job now; `also` is an optimizer that is about to make its first step."""
        known = self._optimizers.alive()
        if also is not None and all(optimizer is not also for optimizer in known):
            known.append(also)
        return states.look(known, self._modules.outermost())

    def before_step(self, optimizer: Any) -> None:
        """Count gradients when a count is due; in the training thread."""
        now = time.monotonic_ns()
        due = self._optimizers.step < _ALWAYS or self._in_hooks.due(now)
        if due and self._optimizers.leads(optimizer):
            self._gradients = states.before_step(self.look(optimizer))
            self._cost_ns = time.monotonic_ns() - now

    def after_step(self, first_of_its_optimizer: bool) -> states.Job | None:
        """Finish a count that was begun before the step, or count what an optimizer made in its first
        step."""
        if self._gradients is None and not first_of_its_optimizer:
            return None
        now = time.monotonic_ns()
        job = self.look()
        self._held.update(self._gradients or {})
        self._held.update(states.after_step(job))
        self._gradients = None
        self._counted_at = self._optimizers.step
        self._unsharded_groups, self._bits = group_bits(job.units)
        self._python_gradients = self._only_fsdp2(job)
        end = time.monotonic_ns()
        self._in_hooks.spent(end, self._cost_ns + end - now)
        return job

    def _only_fsdp2(self, job: states.Job) -> bool:
        known = {id(parameter) for unit in job.units for parameter in unit.parameters()}
        fsdp2 = all(unit.wrapper == "fsdp2" for unit in job.units)
        return fsdp2 and all(id(parameter) in known for parameter in job.optimized())

    def put_counted(self, measures: Measures, on_accelerator: bool) -> bytes:
        """The count around the last counted step, as it was then; the bits of the unsharded groups."""
        if not self._held:
            measures.lack("states", Reason.NO_STEP_YET)
            measures.lack("unsharded", Reason.NO_STEP_YET)
            return b""
        measures.put(states.measures(self._held, on_accelerator))
        measures.put({"counted_at_step": self._counted_at, "groups_unsharded": self._unsharded_groups})
        return self._bits

    def put_now(self, measures: Measures, on_accelerator: bool) -> bytes:
        """What is true at any moment, from any thread: weights and optimizer as counted, the rest looked
        up.

        Autograd writes the gradients of plain parameters outside Python, so that no other thread may look
        at them; FSDP2 sets those of its shards in Python.
        """
        now = time.monotonic_ns()
        fresh = {name: held for name, held in self._held.items() if not name.endswith("gradients")}
        fresh.pop("unsharded_weights", None)
        measures.lack("states", Reason.NOT_COUNTED if self._held else Reason.NO_STEP_YET)
        measures.lack("unsharded", Reason.NOT_COUNTED)
        bits = b""
        if self._in_thread.due(now):
            job_units = self.look().units
            fresh.update(states.unsharded_now(job_units))
            if self._python_gradients:
                fresh["gradients"] = states.sharded_gradients_now(job_units)
            count, bits = group_bits(job_units)
            measures.put({"groups_unsharded": count})
            self._in_thread.spent(now, time.monotonic_ns() - now)
        measures.put(states.measures(fresh, on_accelerator))
        if self._held:
            measures.put({"counted_at_step": self._counted_at})
        return bits
