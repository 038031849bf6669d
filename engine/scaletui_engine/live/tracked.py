"""One rank followed over time: the newest of everything, a bounded past, and what it shows for it."""

from __future__ import annotations

from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import Evidence, Verdict
from scaletui_engine.live.held import NOTHING, HeldMemo, held, held_on
from scaletui_engine.live.history import History, Point
from scaletui_engine.live.plan_document import JobPlan, PlanFault, parse_plan
from scaletui_engine.live.prediction import NO_PLAN, UNREAD, Prediction, predict
from scaletui_engine.live.process import Life
from scaletui_engine.live.record import Measured
from scaletui_engine.live.snapshot import Allocator, Happening, RankView
from scaletui_engine.live.wave import MOST, WaveSample, phase_of
from scaletui_probe.layout import Event, Kind, Reason

if TYPE_CHECKING:
    from scaletui_engine.live.header import RingHeader
    from scaletui_engine.live.held import Held
    from scaletui_engine.live.process import Host
    from scaletui_engine.live.record import Record
    from scaletui_engine.live.source import RingUpdate
    from scaletui_engine.live.watch import Sighting

PATIENCE_NS: Final = 5_000_000_000
"""Silence of a living rank that is worth a word, at the usual two samples a second."""
PATIENT_INTERVALS: Final = 10
MOST_HAPPENINGS: Final = 16
_ALLOCATOR: Final = Measured(
    "allocated", "reserved", "active", "inactive_split", "requested", "reserved_peak", "allocated_peak_seen",
    "alloc_retries", "ooms",
)  # fmt: skip
_LATEST: Final = Measured("step", "step_ns", "driver_free", "driver_total", "host_rss")
_PEAKS: Final = Measured("allocated", "allocated_peak", "allocated_peak_seen")
_AS_FIELDS: Final = itemgetter(0, 1, 2, 3, 4, 6, 5, 7, 8)
"""From the layout's order to that of `Allocator`."""
_UNCOUNTED: Final = (NOTHING, NOTHING, Reason.NO_STEP_YET, Reason.NO_STEP_YET)
_NO_FIGURES: Final = (None,) * 5
_POINT: Final = Measured("step", "step_ns", "allocated", "host_rss")
OUT_OF_MEMORY: Final = "OutOfMemoryError"
"""The class PyTorch raises when its allocator finds no memory."""


class PlanReader:
    """Reads the plans of one poll: no more than so many bytes of them, or all where there is no limit."""

    def __init__(self, most_bytes: int | None) -> None:
        self._left = most_bytes

    @property
    def has_time(self) -> bool:
        """Whether this poll reads another plan."""
        return self._left is None or self._left > 0

    def read(self, data: bytes) -> JobPlan | PlanFault:
        """The plan in these bytes."""
        if self._left is not None:
            self._left -= len(data)
        return parse_plan(data)


class TrackedRank:
    """Takes the updates of one ring; `view` and `evidence` are what the job is judged and shown by."""

    def __init__(self, update: RingUpdate, host: Host) -> None:
        self._host = host
        self._history = History()
        self._sample: Record | None = None
        self._step: Record | None = None
        self._newest: Record | None = None
        self._latest: Record | None = None
        """The newest that is no event."""
        self._plan_sequence = 0
        self._is_plan_due = False
        self._plan: JobPlan | None = None
        self._prediction: Prediction = NO_PLAN
        self._sampled_peak: int | None = None
        self._resets_peak = False
        self._has_units = False
        self._units: deque[WaveSample] = deque(maxlen=MOST)
        self._wave: tuple[WaveSample, ...] = ()
        self._exited = False
        self._happenings: deque[Happening] = deque(maxlen=MOST_HAPPENINGS)
        self._told: tuple[Happening, ...] = ()
        self._failure: Record | None = None
        self._gone_ns: int | None = None
        self._seen_ns = 0
        self._elsewhere = False
        self._view: RankView | None = None
        self._update = update
        self._at_step = HeldMemo(_counted_of, _UNCOUNTED)
        self._now = HeldMemo(held, NOTHING)

    @property
    def header(self) -> RingHeader:
        """The newest header."""
        return self._update.reading.header

    @property
    def key(self) -> tuple[str, int, int]:
        """Job, attempt and rank."""
        identity = self.header.identity
        return identity.job_id, identity.attempt, identity.rank

    def take(self, update: RingUpdate, now_ns: int, reader: PlanReader) -> None:
        """Take what a poll brought; a plan when the reader has time for it, at the latest in a later poll."""
        reading = update.reading
        changed = (
            reading.header.sequence != self.header.sequence or reading.plan_sequence != self._plan_sequence
        )
        self._update = update
        self._is_plan_due = self._is_plan_due or changed or self._newest is None
        if self._is_plan_due and reader.has_time:
            self._take_plan(reader)
            self._view = None
        elif self._is_plan_due and reading.plan is not None and self._prediction is NO_PLAN:
            self._prediction, self._view = UNREAD, None
        for records in (reading.steps, reading.samples, reading.events):
            for record in records:
                self._take_record(record)
            if records:
                self._view = None
        self._take_sighting(update.rank, now_ns)

    def _take_record(self, record: Record) -> None:
        if self._newest is None or record.monotonic_ns >= self._newest.monotonic_ns:
            self._newest = record
        kind = record.kind
        if kind is Kind.SAMPLE:
            self._sample = record
            self._take_units(record)
            self._take_peaks(record)
        elif kind is Kind.STEP:
            self._step = record
        else:
            self._take_event(record)
            return
        if self._latest is None or record.monotonic_ns >= self._latest.monotonic_ns:
            self._latest = record
        if (record.get("allocated") is not None) is (kind is Kind.STEP):
            step, step_ns, allocated, host_rss = record.several(_POINT)
            self._history.add(Point(step or 0, record.monotonic_ns, step_ns, allocated, host_rss))

    def _take_peaks(self, sample: Record) -> None:
        """A lifetime peak that is lower than one seen before was reset by the job."""
        allocated, peak, seen = sample.several(_PEAKS)
        if allocated is not None:
            self._sampled_peak = max(allocated, self._sampled_peak or 0)
        if peak is not None and seen is not None and peak < seen:
            self._resets_peak = True

    def _take_units(self, sample: Record) -> None:
        """Keep which units were unsharded, and when in a step that was."""
        if not self._has_units or sample.get("groups_unsharded") is None:
            return
        end, step, phase = self._step, sample.get("step") or 0, None
        if end is not None and end.get("step") == step:
            phase = phase_of(sample.monotonic_ns, end.monotonic_ns, end.get("step_ns"))
        groups = sample.unsharded_groups.rstrip(b"\0")
        self._units.append(WaveSample(sample.monotonic_ns, step, phase, groups))
        self._wave = tuple(self._units)

    def _take_event(self, record: Record) -> None:
        self._happenings.append(_happening(record))
        self._told = tuple(self._happenings)
        if record.event is Event.EXIT:
            self._exited = True
        elif record.event is Event.EXCEPTION:
            self._failure = record

    def _take_plan(self, reader: PlanReader) -> None:
        reading = self._update.reading
        self._is_plan_due = False
        self._plan_sequence = reading.plan_sequence
        if reading.plan is not None:
            plan = reader.read(reading.plan)
            self._plan = plan if isinstance(plan, JobPlan) else None
            self._has_units = self._plan is not None and bool(self._plan.groups)
            self._prediction = predict(plan)

    def _take_sighting(self, rank: Sighting, now_ns: int) -> None:
        """A process that the table does not know and that still writes lives in another pid namespace."""
        if rank.life is not Life.GONE:
            self._seen_ns = now_ns if rank.life is not Life.UNKNOWN else self._seen_ns
            self._gone_ns = None
        elif self._gone_ns is None:
            self._gone_ns = now_ns
        elif self._newest is not None and self._newest.monotonic_ns > self._gone_ns:
            self._elsewhere = True

    def is_plain(self, now_ns: int) -> bool:
        """Whether it lives, its launcher does, and it publishes: there is nothing to judge."""
        rank, launcher, newest = self._update.rank, self._update.launcher, self._newest
        lives = rank.life is Life.ALIVE and launcher.life is Life.ALIVE and not self._elsewhere
        return (
            lives
            and newest is not None
            and self._failure is None
            and now_ns - newest.monotonic_ns < PATIENCE_NS
        )

    def evidence(self, now_ns: int) -> Evidence:
        """What is known about its life."""
        identity = self.header.identity
        failure = self._failure
        last_ns = self._newest.monotonic_ns if self._newest else self.header.created_monotonic_ns
        return Evidence(
            life=Life.UNKNOWN if self._elsewhere else self._update.rank.life,
            launcher_life=self._update.launcher.life,
            last_ns=max(last_ns, self._seen_ns if self._update.rank.life is Life.GONE else 0),
            now_ns=now_ns,
            patience_ns=max(PATIENCE_NS, PATIENT_INTERVALS * self.header.interval_ns),
            gone_ns=self._gone_ns,
            ending=self._update.rank.ending,
            launcher_ending=self._update.launcher.ending,
            exited=self._exited,
            exception=failure.text if failure else "",
            failed_ns=failure.monotonic_ns if failure else None,
            out_of_memory=failure is not None and failure.text == OUT_OF_MEMORY,
            same_host=identity.host == self._host.name,
            same_boot=identity.boot_id == self._host.boot_id,
        )

    def view(self, verdict: Verdict) -> RankView:
        """What a screen shows; the same object as long as nothing is new."""
        view = self._view
        if view is None or (view.verdict is not verdict and view.verdict != verdict):
            view = self._view = self._make_view(verdict)
        return view

    def _make_view(self, verdict: Verdict) -> RankView:
        newest, step, sample = self._newest, self._step, self._sample or self._step
        header, latest = self.header, self._latest
        measured, on_host, states_reason, buffers_reason = self._at_step.of(step)
        figures = latest.several(_LATEST) if latest else _NO_FIGURES
        at_step, step_ns, driver_free, driver_total, host_rss = figures
        return RankView(
            path=self._update.reading.path,
            identity=header.identity,
            verdict=verdict,
            created_wall_ns=header.created_wall_ns,
            last_ns=newest.monotonic_ns if newest else header.created_monotonic_ns,
            last_wall_ns=newest.wall_ns if newest else header.created_wall_ns,
            same_clock=header.identity.boot_id == self._host.boot_id,
            step=at_step,
            step_ns=step_ns,
            measured_at_step=_get(step, "counted_at_step"),
            measured=measured,
            now=self._now.of(sample),
            on_host=on_host,
            prediction=self._prediction,
            plan=self._plan,
            allocator=_allocator(latest),
            allocator_reason=_reason(latest, "allocated"),
            states_reason=states_reason,
            buffers_reason=buffers_reason,
            host_rss=host_rss,
            driver_free=driver_free,
            driver_total=driver_total,
            history=self._history.recent,
            errors=newest.errors if newest else 0,
            happenings=self._told,
            wave=self._wave,
            sampled_peak=self._sampled_peak,
            resets_peak=self._resets_peak,
        )


def _happening(record: Record) -> Happening:
    return Happening(
        event=record.event,
        wall_ns=record.wall_ns,
        step=record.get("step"),
        values=record.event_values,
        text=record.text,
        allocated=record.get("allocated"),
        held=held(record),
    )


def _reason(record: Record | None, measure: str) -> Reason:
    return Reason.NO_STEP_YET if record is None else record.reason(measure)


def _counted_of(step: Record) -> tuple[Held, Held, Reason, Reason]:
    """What was counted around a step, the part of it on the host, and why states and buffers were not."""
    reasons = step.reason("weights_host"), step.reason("buffers_host")
    return held(step), held_on(step, "host"), *reasons


def _get(record: Record | None, measure: str) -> int | None:
    return None if record is None else record.get(measure)


def _allocator(record: Record | None) -> Allocator | None:
    if record is None:
        return None
    figures = record.several(_ALLOCATOR)
    return None if figures[0] is None else Allocator(*_AS_FIELDS(figures))
