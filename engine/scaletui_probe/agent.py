"""The probe at work in one training process: what the optimizer hooks, the thread and the endings write
to the ring."""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from scaletui_probe import cuda, identity
from scaletui_probe.budget import Budget
from scaletui_probe.census import Census
from scaletui_probe.deepspeed import part
from scaletui_probe.directory import open_directory, ring_directory
from scaletui_probe.gauges import Gauges
from scaletui_probe.layout import Event, Kind, Mode, Reason
from scaletui_probe.optimizers import Optimizers
from scaletui_probe.plan import plan
from scaletui_probe.record import Measures, Record
from scaletui_probe.ring import RingWriter, create_ring

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_probe.settings import Settings
    from scaletui_probe.states import Job

_MOST_ERRORS = 20
_ERRORS_WITHIN_NS = 900 * 10**9
_RECORD_SHARE = 0.0008
"""Of the time that passes, what records of steps may cost; short steps share one."""
_BLOCKED_NS = 50 * 10**6
"""A record that takes longer than processors let a thread wait was held up by its disk: that counts, too."""
_FEW_OPTIMIZERS = 8


class Happening(NamedTuple):
    """An event and what belongs to it."""

    event: Event
    values: tuple[int, int] = (0, 0)
    text: str = ""


class Agent:
    """Publishes one process. Every method that the job calls swallows its errors; too many, and the agent
    goes quiet."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.quiet = False
        self.errors = 0
        self.thread_cpu_ns = 0
        self._hook_cpu_ns = 0
        self._dropped = 0
        self._errors_at: deque[int] = deque(maxlen=_MOST_ERRORS)
        self._pid = os.getpid()
        self._optimizers = Optimizers()
        self._census = Census(self._optimizers)
        self._gauges = Gauges()
        self._gauges.find_device()
        self._ring = self._open_ring()
        self._unseen_from = -1
        """The step after which no hook saw another, since one was compiled or recorded in a graph."""
        self._unseen = Reason.COMPILED
        self._step_ns = 0
        self._last_step_ns = 0
        self._records = Budget(_RECORD_SHARE)
        self._last_sample_ns = 0
        self._retries = 0
        self._plan_key: tuple[int, ...] = ()
        self._on_device: Callable[[], None] | None = None
        self._gauges.ask_driver()
        self.happened(Happening(Event.START, (int(settings.mode), 0)))

    def _open_ring(self) -> RingWriter:
        folder = open_directory(ring_directory(None, os.environ), create=True)
        try:
            return create_ring(folder, self._header())
        finally:
            os.close(folder)

    def tell_when_on_device(self, listener: Callable[[], None]) -> None:
        """Call the listener once, from the training thread, as soon as the job has initialised its device."""
        self._on_device = listener
        self._tell_of_device()

    def _tell_of_device(self) -> None:
        if self._gauges.device.ordinal >= 0 and self._on_device is not None:
            listener, self._on_device = self._on_device, None
            listener()

    def _header(self) -> Any:
        return identity.header(os.environ, self.settings, self._gauges.device)

    def before_step(self, optimizer: Any) -> None:
        """The optimizer is about to step; in the training thread."""
        if cuda.is_capturing():
            self.steps_go_unseen(Reason.CAPTURED)
        elif self._census.is_due(time.monotonic_ns()) and part(optimizer).begins:
            self._count_gradients(optimizer)

    def _count_gradients(self, optimizer: Any) -> None:
        begin = time.thread_time_ns()
        self._census.before_step(optimizer)
        self._hook_cpu_ns += time.thread_time_ns() - begin

    def after_step(self, optimizer: Any) -> None:
        """The optimizer has stepped; in the training thread."""
        if cuda.is_capturing() or not part(optimizer).ends:
            return
        now = time.monotonic_ns()
        leads = self._optimizers.stepped(optimizer)
        if leads:
            self._step_ns = now - self._last_step_ns if self._last_step_ns else 0
            self._last_step_ns = now
        counting = self._census.is_open() or self._is_worth_a_count(optimizer)
        if counting or (leads and now >= self._records.next_ns):
            self._publish(counting)

    def _is_worth_a_count(self, optimizer: Any) -> bool:
        """Whether it has made its first step; where every parameter has an optimizer, only now and then."""
        number = self._optimizers.number
        is_told = number <= _FEW_OPTIMIZERS or number & (number - 1) == 0
        return is_told and self._optimizers.steps_of(optimizer) == 1

    def steps_go_unseen(self, reason: Reason) -> None:
        """An optimizer's step is being compiled or recorded in a graph: what runs from now on calls no hook,
        and nobody tells which optimizer that is."""
        if not self._census.is_hidden:
            self._census.hide(reason)
            self._unseen = reason
            self._unseen_from = self._optimizers.step
            self._put_step()

    def _publish(self, counting: bool) -> None:
        begin = time.thread_time_ns()
        if counting:
            self._after_count(self._census.after_step(self._gauges.device.ordinal >= 0))
        record_begin, began_ns = time.thread_time_ns(), time.monotonic_ns()
        self._put_step()
        end, waited_ns = time.thread_time_ns(), time.monotonic_ns() - began_ns
        self._records.spent(self._last_step_ns, waited_ns if waited_ns > _BLOCKED_NS else end - record_begin)
        self._gauges.ask_driver()
        interval_ns = self.settings.interval_s * 1e9
        if self.settings.mode is Mode.HOOKS and self._last_step_ns - self._last_sample_ns >= interval_ns:
            self.sample()
            end = time.thread_time_ns()
        self._hook_cpu_ns += end - begin

    def _after_count(self, job: Job) -> None:
        """Things that change rarely: the device that CUDA got meanwhile, and the plan."""
        if self._gauges.find_device() or self._optimizers.step <= 1:
            self._ring.put_header(self._header())
            self._tell_of_device()
        if self._census.is_hidden:
            return
        tensors = sum(len(group["params"]) for o in job.optimizers for group in o.param_groups)
        key = (len(job.optimizers), tensors, len(job.units), len(job.modules))
        if key != self._plan_key:
            self._ring.put_plan(plan(job, self._optimizers.step, self._gauges.device.name))
            self._plan_key = key

    def _put_step(self) -> None:
        measures = self._census.counted.copy()
        self._put_clock(measures)
        self._gauges.read(measures, stepped=True)
        self._put(Kind.STEP, measures, self._census.bits)

    def sample(self) -> None:
        """One sample of this moment; from any thread."""
        self._last_sample_ns = time.monotonic_ns()
        measures, bits = self._everything()
        self._put(Kind.SAMPLE, measures, bits)
        retries = measures.get("alloc_retries") or 0
        if retries > self._retries:
            self._put_event(Happening(Event.ALLOC_RETRY, (retries - self._retries, 0)), measures, bits)
            self._retries = retries

    def happened(self, happening: Happening) -> None:
        """Write an event together with a sample of this moment; in a thread that trains."""
        measures, bits = self._everything(in_training=True)
        self._put_event(happening, measures, bits)

    def _everything(self, in_training: bool = False) -> tuple[Measures, bytes]:
        measures = Measures()
        self._put_clock(measures)
        self._gauges.read(measures, stepped=self._optimizers.step > 0)
        on_accelerator = self._gauges.device.ordinal >= 0
        return measures, self._census.put_now(measures, on_accelerator, in_training)

    def _put_clock(self, measures: Measures) -> None:
        measures.put({"probe_cpu_ns": self._hook_cpu_ns + self.thread_cpu_ns})
        if self._optimizers.step == self._unseen_from:
            measures.lack("step", self._unseen)
            return
        measures.put({"step": self._optimizers.step})
        if self._step_ns:
            measures.put({"step_ns": self._step_ns})
        else:
            measures.lack("step", Reason.NO_STEP_YET)

    def _put(self, kind: Kind, measures: Measures, bits: bytes) -> None:
        self._write(self._record(kind, measures, bits))

    def _put_event(self, happening: Happening, measures: Measures, bits: bytes) -> None:
        record = self._record(Kind.EVENT, measures, bits)
        self._write(
            record._replace(event=happening.event, event_values=happening.values, text=happening.text)
        )

    def _record(self, kind: Kind, measures: Measures, bits: bytes) -> Record:
        return Record(
            kind=kind,
            monotonic_ns=time.monotonic_ns(),
            wall_ns=time.time_ns(),
            measures=measures,
            unsharded_groups=bits,
            device_index=self._gauges.device.ordinal,
            errors=self.errors,
            dropped=self._dropped,
        )

    def _write(self, record: Record) -> None:
        if os.getpid() == self._pid and not self._ring.put(record):
            self._dropped += 1

    def swallow(self, error: Exception) -> None:
        """Count an error of our own and go quiet after too many in a short time."""
        self.errors += 1
        now = time.monotonic_ns()
        self._errors_at.append(now)
        many = len(self._errors_at) == _MOST_ERRORS and now - self._errors_at[0] < _ERRORS_WITHIN_NS
        if self.quiet or not many:
            return
        self.quiet = True
        measures = Measures()
        self._put_clock(measures)
        try:
            self._put_event(Happening(Event.QUIET, (0, 0), type(error).__name__), measures, b"")
        except Exception:
            return

    def finish(self) -> None:
        """The interpreter ends in order: leave the last step and the end in the ring."""
        if self._optimizers.step and not self._census.is_open():
            self._put_step()
        self.happened(Happening(Event.EXIT))

    def leave(self) -> None:
        """In a forked child: touch nothing that belongs to the parent any more."""
        self.quiet = True
        self._ring.close()
        self._gauges.close()
