"""One rank followed over time: the newest of everything, a bounded past, and what it shows for it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import Evidence, Verdict
from scaletui_engine.live.held import held
from scaletui_engine.live.history import History
from scaletui_engine.live.plan_document import JobPlan, PlanFault, parse_plan
from scaletui_engine.live.predicted import NO_PLAN, UNREAD, Prediction
from scaletui_engine.live.process import Life
from scaletui_engine.live.record import Measured
from scaletui_engine.live.seen import Seen, memos
from scaletui_engine.live.snapshot import Happening
from scaletui_engine.live.wave import MOST, WaveSample, phase_of
from scaletui_engine.live.window import Window
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from scaletui_engine.live.process import Host
    from scaletui_engine.live.record import Record
    from scaletui_engine.live.ring import RingReading
    from scaletui_engine.live.snapshot import RankView
    from scaletui_engine.live.source import RingUpdate
    from scaletui_engine.live.watch import Sighting

PATIENCE_NS: Final = 5_000_000_000
"""Silence of a living rank that is worth a word, at the usual two samples a second."""
PATIENT_INTERVALS: Final = 10
MOST_HAPPENINGS: Final = 16
_PEAKS: Final = Measured("allocated", "allocated_peak", "allocated_peak_seen")
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

    __slots__ = (
        "_at_step", "_elsewhere", "_exited", "_failure", "_gone_ns", "_happenings", "_has_units",
        "_history", "_host", "_is_plan_due", "_latest", "_newest", "_now", "_plan", "_plan_sequence",
        "_prediction", "_resets_peak", "_sample", "_sampled_peak", "_seen_ns", "_step", "_told", "_units",
        "_update", "_view", "header",
    )  # fmt: skip

    def __init__(self, update: RingUpdate, host: Host) -> None:
        self._host = host
        self._history = History()
        self._sample: Record | None = None
        self._step: Record | None = None
        self._newest: Record | None = None
        self._latest: Record | None = None
        """The newest that is no event."""
        self._plan_sequence = 0
        self._is_plan_due = True
        self._plan: JobPlan | None = None
        self._prediction: Prediction = NO_PLAN
        self._sampled_peak: int | None = None
        self._resets_peak = False
        self._has_units = False
        self._units: Window[WaveSample] = Window(MOST)
        self._exited = False
        self._happenings: deque[Happening] = deque(maxlen=MOST_HAPPENINGS)
        self._told: tuple[Happening, ...] = ()
        self._failure: Record | None = None
        self._gone_ns: int | None = None
        self._seen_ns = 0
        self._elsewhere = False
        self._view: RankView | None = None
        self._update = update
        self.header = update.reading.header
        """The newest one."""
        self._at_step, self._now = memos()

    @property
    def key(self) -> tuple[str, int, int]:
        """Job, attempt and rank."""
        identity = self.header.identity
        return identity.job_id, identity.attempt, identity.rank

    def take(self, update: RingUpdate, now_ns: int, reader: PlanReader) -> None:
        """Take what a poll brought; a plan when the reader has time for it, at the latest in a later poll."""
        reading = update.reading
        header, before = reading.header, self.header
        is_other = header is not before and header != before
        if is_other or reading.plan_sequence != self._plan_sequence:
            self._is_plan_due = True
        self._update, self.header = update, header
        if self._is_plan_due:
            self._see_to_plan(reader)
        if reading.steps or reading.samples or reading.events:
            self._take_records(reading)
        self._take_sighting(update.rank, now_ns)

    def _see_to_plan(self, reader: PlanReader) -> None:
        """Read the plan, or say that it is there and has not been read."""
        if reader.has_time:
            self._take_plan(reader)
            self._view = None
        elif self._update.reading.plan is not None and self._prediction is NO_PLAN:
            self._prediction, self._view = UNREAD, None

    def _take_records(self, reading: RingReading) -> None:
        self._view = None
        if self._has_units:
            self._take_units(reading)
        for record in reading.steps:
            self._note(record)
            self._step = record
            self._take_step(record)
        for record in reading.samples:
            self._note(record)
            self._sample = record
            self._take_sample(record)
        for record in reading.events:
            if self._newest is None or record.monotonic_ns >= self._newest.monotonic_ns:
                self._newest = record
            self._take_event(record)

    def _note(self, record: Record) -> None:
        """A record that is no event may be the newest of all, and of its like."""
        if self._newest is None or record.monotonic_ns >= self._newest.monotonic_ns:
            self._newest = record
        if self._latest is None or record.monotonic_ns >= self._latest.monotonic_ns:
            self._latest = record

    def _take_step(self, record: Record) -> None:
        """Steps are points of the past where there is an allocator, samples where there is none."""
        step, step_ns, allocated, host_rss = record.several(_POINT)
        if allocated is not None:
            self._history.add((step or 0, record.monotonic_ns, step_ns, allocated, host_rss))

    def _take_sample(self, record: Record) -> None:
        """A lifetime peak lower than one seen before was reset by the job."""
        allocated, peak, seen = record.several(_PEAKS)
        if allocated is None:
            step, step_ns, _, host_rss = record.several(_POINT)
            self._history.add((step or 0, record.monotonic_ns, step_ns, None, host_rss))
        elif self._sampled_peak is None or allocated > self._sampled_peak:
            self._sampled_peak = allocated
        if peak is not None and seen is not None and peak < seen:
            self._resets_peak = True

    def _take_units(self, reading: RingReading) -> None:
        """Keep which units were unsharded, and when in a step that was: a reading may bring several steps."""
        looked = [sample for sample in reading.samples if sample.get("groups_unsharded") is not None]
        if not looked:
            return
        before = () if self._step is None else (self._step,)
        ends = {end.get("step"): end for end in (*before, *reading.steps)}
        for sample in looked:
            step, phase = sample.get("step") or 0, None
            end = ends.get(step)
            if end is not None:
                phase = phase_of(sample.monotonic_ns, end.monotonic_ns, end.get("step_ns"))
            groups = sample.unsharded_groups.rstrip(b"\0")
            self._units.add(WaveSample(sample.monotonic_ns, step, phase, groups))

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
            from scaletui_engine.live.prediction import predict  # deferred: rules are for plans alone

            self._prediction = predict(plan, self.header.identity)

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
        newest = self._newest
        if newest is None or self._failure is not None or self._elsewhere:
            return False
        lives = self._update.rank.life is Life.ALIVE and self._update.launcher.life is Life.ALIVE
        return lives and now_ns - newest.monotonic_ns < PATIENCE_NS

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
        """Take everything as it is now; what is shown of it is worked out when somebody asks."""
        seen = Seen(
            self._update.reading.path, self.header, self._host.boot_id, self._newest, self._step,
            self._sample or self._step, self._latest, self._at_step, self._now, self._prediction, self._plan,
            self._history.past, self._told, self._units.past, self._sampled_peak, self._resets_peak,
        )  # fmt: skip
        return seen.view(verdict)


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
