"""Counts the job's states around steps, and what is unsharded between them, within a budget of time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scaletui_probe import states
from scaletui_probe.budget import Budget
from scaletui_probe.layout import Reason
from scaletui_probe.record import Measures
from scaletui_probe.units import group_bits, units

if TYPE_CHECKING:
    from scaletui_probe.optimizers import Optimizers
    from scaletui_probe.storage import Held

_HOOK_SHARE = 0.0008
_THREAD_SHARE = 0.0003
_ALWAYS = 2
"""Steps that are always counted: the first makes the optimizer's state, the second runs like all others."""
_NEVER = 1 << 63


class Census:
    """The last count of every part, and when the next is due."""

    def __init__(self, optimizers: Optimizers) -> None:
        self.due_ns = 0
        """When gradients are to be counted next, by the monotonic clock."""
        self.counted = Measures()
        """The last count around a step."""
        self.bits = b""
        """The units that were unsharded then."""
        self.is_hidden = False
        """Whether optimizers work where no hook sees them, so that no state can be told."""
        self._optimizers = optimizers
        self._in_thread = Budget(_THREAD_SHARE)
        self._in_hooks = Budget(_HOOK_SHARE)
        self._gradients: dict[str, Held] | None = None
        self._cost_ns = 0
        self._held: dict[str, Held] = {}
        """Replaced, never changed: the sampling thread reads it at any moment."""
        self._only_fsdp2 = False
        self._states = self._unsharded = Reason.NO_STEP_YET
        self.counted.lack("states", Reason.NO_STEP_YET)
        self.counted.lack("unsharded", Reason.NO_STEP_YET)

    def look(self, also: Any = None) -> states.Job:
        """The job now; `also` is an optimizer that is about to make its first step."""
        known = self._optimizers.alive()
        if also is not None and all(optimizer is not also for optimizer in known):
            known.append(also)
        return states.look(known)

    def before_step(self, optimizer: Any) -> None:
        """Count gradients, in the training thread, when the optimizer begins a training step."""
        if not self._optimizers.leads(optimizer):
            return
        begin = time.thread_time_ns()
        self._gradients = states.before_step(self.look(optimizer))
        self._cost_ns = time.thread_time_ns() - begin

    def is_due(self, now_ns: int) -> bool:
        """Whether gradients are to be counted before the step that begins.

        All ranks wait for the slowest at every step: were each to count at a step of its own, a thousand
        ranks would make every step wait for one of them. So a count waits for a step whose number many ranks
        agree on: a multiple of the largest power of two that is not above the steps since the last.
        """
        if now_ns < self.due_ns:
            return False
        since = max(self._optimizers.step - (self.counted.get("counted_at_step") or 0), 1)
        return (self._optimizers.step + 1) % (1 << since.bit_length() - 1) == 0

    def is_open(self) -> bool:
        """Whether gradients were counted before this step, so that the rest is to be counted after it."""
        return self._gradients is not None

    def after_step(self, on_accelerator: bool) -> states.Job:
        """Count the rest, in the training thread."""
        begin = time.thread_time_ns()
        job = self.look()
        if not self.is_hidden and not job.is_readable():
            self.hide(Reason.NOT_SUPPORTED)
        if not self.is_hidden:
            self._count(job, on_accelerator)
            self._in_hooks.spent(time.monotonic_ns(), self._cost_ns + time.thread_time_ns() - begin)
            self.due_ns = self._in_hooks.next_ns if self._optimizers.step >= _ALWAYS else 0
        return job

    def _count(self, job: states.Job, on_accelerator: bool) -> None:
        held = {name: part for name, part in self._held.items() if name not in states.SOMETIMES}
        held.update(self._gradients or {})
        held.update(states.after_step(job))
        self._gradients = None
        self._only_fsdp2 = _is_fsdp2_alone(job)
        self.counted = Measures()
        if "buffers" not in held:
            self.counted.lack("states", Reason.NOT_SUPPORTED)
        unsharded, self.bits = group_bits(job.units)
        if states.unsharded_is_known(job):
            self._unsharded = Reason.AVAILABLE
            self.counted.put({"groups_unsharded": unsharded})
        else:
            self._unsharded = Reason.NOT_SUPPORTED
            self.counted.lack("unsharded", self._unsharded)
            for name in states.UNSHARDED:
                held.pop(name, None)
        self._held = held
        self.counted.put(states.measures(held, on_accelerator))
        self.counted.put({"counted_at_step": self._optimizers.step})

    def hide(self, reason: Reason) -> None:
        """Count no states from now on, and say why; units that are in sight are still looked at."""
        self.is_hidden = True
        self.due_ns = _NEVER
        self.counted, self.bits = Measures(), b""
        self._held, self._gradients = {}, None
        self._states = reason
        self._unsharded = Reason.NOT_SUPPORTED if reason is Reason.NOT_SUPPORTED else self._unsharded
        self.counted.lack("states", reason)
        self.counted.lack("unsharded", Reason.NOT_COUNTED)

    def put_now(self, measures: Measures, on_accelerator: bool, in_training: bool = False) -> bytes:
        """What is true at any moment: weights and optimizer as counted, the rest looked up.

        The sampling thread looks at what Python objects hold and at nothing else. A gradient belongs to its
        parameter inside PyTorch: another thread that asks for it while the training drops it corrupts the
        job's memory. Gradients are for the thread that trains, whatever that costs.
        """
        now = time.monotonic_ns()
        counted = self._held
        fresh = {name: held for name, held in counted.items() if not name.endswith("gradients")}
        fresh.pop("unsharded_weights", None)
        measures.lack("states", Reason.NOT_COUNTED if counted else self._states)
        measures.lack("unsharded", Reason.NOT_COUNTED)
        bits = b""
        if in_training or now >= self._in_thread.next_ns:
            begin = time.thread_time_ns()
            bits = self._look_up(measures, fresh, in_training)
            self._in_thread.spent(now, time.thread_time_ns() - begin)
        measures.put(states.measures(fresh, on_accelerator))
        if counted:
            measures.put({"counted_at_step": self.counted.get("counted_at_step") or 0})
        return bits

    def _look_up(self, measures: Measures, fresh: dict[str, Held], in_training: bool) -> bytes:
        """What is unsharded now. Before the first step only FSDP2's registry tells of units."""
        found = units(self._optimizers.alive())
        before_any_count = self._unsharded is Reason.NO_STEP_YET
        if self._unsharded is not Reason.AVAILABLE and not (before_any_count and found):
            measures.lack("unsharded", self._states if before_any_count else self._unsharded)
            return b""
        fresh.update(states.unsharded_now(found))
        if in_training and self._only_fsdp2 and not self.is_hidden:
            fresh["gradients"] = states.sharded_gradients_now(found)
        count, bits = group_bits(found)
        measures.put({"groups_unsharded": count})
        return bits


def _is_fsdp2_alone(job: states.Job) -> bool:
    """Whether all that is optimized lies in FSDP2's groups."""
    known = {id(parameter) for unit in job.units for parameter in unit.parameters()}
    fsdp2 = all(unit.wrapper == "fsdp2" for unit in job.units)
    return fsdp2 and all(id(parameter) in known for parameter in job.optimized())
