"""One look at every job: frozen values that a screen, a JSON printer or a test may keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.live.history import packed

if TYPE_CHECKING:
    from array import array

    from scaletui_engine.live.discovery import Place
    from scaletui_engine.live.driver.reading import DriverView, SourceStatus
    from scaletui_engine.live.evidence import RankState, Verdict
    from scaletui_engine.live.fault import RingFault
    from scaletui_engine.live.header import Identity
    from scaletui_engine.live.held import Held
    from scaletui_engine.live.history import Past, Point
    from scaletui_engine.live.plan_document import JobPlan
    from scaletui_engine.live.predicted import Prediction
    from scaletui_engine.live.wave import WaveSample
    from scaletui_probe.layout import Event, Reason


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, on both clocks; whoever asks for a snapshot reads them."""

    monotonic_ns: int
    wall_ns: int


@dataclass(frozen=True, slots=True)
class Allocator:
    """PyTorch's caching allocator on one accelerator; None where a counter is missing."""

    allocated: int | None
    reserved: int | None
    active: int | None
    inactive_split: int | None
    requested: int | None
    peak: int | None
    """The largest allocated ever seen: it does not fall when the job resets its own peak."""
    reserved_peak: int | None
    retries: int | None
    ooms: int | None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened to a rank, and what it held at that moment: the last word of a black box."""

    event: Event
    wall_ns: int
    step: int | None
    values: tuple[int, int]
    """For an out-of-memory the bytes asked for and the bytes free; for retries how many."""
    text: str
    """For an exception its class."""
    allocated: int | None
    held: Held


class Deferred:
    """A frozen value that may come without its fields: they are worked out when one of them is asked for.

    A thousand ranks are looked at every second, and of most of them nobody asks for more than a few fields.
    Threads may ask at the same time: what is worked out twice is equal. `_work(value, name)`, where there is
    one, sets that field and maybe others from what changes no more; `_past`, where there is one, holds the
    items of a field that is long.
    """

    __slots__ = ("_past", "_work")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """A field that is not set yet."""
            if name.startswith("_"):
                raise AttributeError(name)
            self._work(self, name)
            return object.__getattribute__(self, name)


@dataclass(frozen=True, slots=True)
class RankView(Deferred):
    """Everything known about one rank."""

    path: str
    identity: Identity
    verdict: Verdict
    created_wall_ns: int
    last_ns: int
    """Monotonic time of its newest record."""
    last_wall_ns: int
    same_clock: bool
    """Whether `last_ns` is of the viewer's own monotonic clock: same machine, same boot."""
    step: int | None
    step_ns: int | None
    measured_at_step: int | None
    measured: Held
    """Counted in the optimizer-step hook of the last completed step."""
    now: Held
    """The thread's last sample."""
    on_host: Held
    """The part of `measured` that lies in host memory."""
    prediction: Prediction
    plan: JobPlan | None
    allocator: Allocator | None
    allocator_reason: Reason
    states_reason: Reason
    """Why there are no categories yet; AVAILABLE when there are."""
    buffers_reason: Reason
    """Why buffers were not counted; outside FSDP2 they never are."""
    host_rss: int | None
    driver_free: int | None
    driver_total: int | None
    history: tuple[Point, ...]
    errors: int
    """Errors that the probe swallowed."""
    happenings: tuple[Happening, ...] = ()
    """The last ones, oldest first."""
    wave: tuple[WaveSample, ...] = ()
    """Which FSDP units were unsharded in the last samples, oldest first; empty without units."""
    sampled_peak: int | None = None
    """The largest allocated that samples met inside of a step: less than the peak, unless by luck."""
    resets_peak: bool = False
    """Whether the job resets the allocator's peaks; `allocator.peak` is our own maximum then."""

    def lately(self, most: int) -> array[int]:
        """The numbers of the history's last points, see `history.packed`; to look at a few, nobody makes
        hundreds of objects for each of a thousand ranks."""
        past: Past | None = getattr(self, "_past", None)
        return packed(self.history[-most:]) if past is None else past.last(most)

    def age_s(self, moment: Moment) -> float:
        """Seconds since the newest record, never negative: a clock may be set back."""
        if self.same_clock:
            return max(moment.monotonic_ns - self.last_ns, 0) / 1e9
        return max(moment.wall_ns - self.last_wall_ns, 0) / 1e9


@dataclass(frozen=True, slots=True)
class JobView:
    """The ranks of one attempt of one job."""

    id: str
    attempt: int
    earlier_attempts: int
    state: RankState
    world_size: int
    ranks: tuple[RankView, ...]
    """By rank; on one machine of many, only that machine's."""

    @property
    def identity(self) -> Identity:
        """The identity of its first rank: command, host and the like are the job's."""
        return self.ranks[0].identity

    @property
    def created_wall_ns(self) -> int:
        """When its first rank began to publish."""
        return min(rank.created_wall_ns for rank in self.ranks)

    @property
    def step(self) -> int | None:
        """The step that the slowest rank has reached."""
        return min((rank.step for rank in self.ranks if rank.step is not None), default=None)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every job at one moment, running ones first, then the newest."""

    moment: Moment
    jobs: tuple[JobView, ...]
    places: tuple[Place, ...]
    """Every folder that was searched."""
    faults: tuple[RingFault, ...]
    """Files that were not read, and why."""
    drivers: tuple[DriverView, ...] = ()
    """Every GPU and MIG instance that the driver knows, with ranks or without, by index."""
    sources: tuple[SourceStatus, ...] = ()
    """How each source of readings is."""
