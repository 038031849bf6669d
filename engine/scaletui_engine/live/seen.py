"""What was known of a rank at one moment, and the view of it, worked out when somebody looks."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from scaletui_engine.live.held import NOTHING, Held, HeldMemo, held, held_on
from scaletui_engine.live.record import Measured
from scaletui_engine.live.snapshot import Allocator, RankView
from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.evidence import Verdict
    from scaletui_engine.live.header import RingHeader
    from scaletui_engine.live.history import Past
    from scaletui_engine.live.plan_document import JobPlan
    from scaletui_engine.live.predicted import Prediction
    from scaletui_engine.live.record import Record
    from scaletui_engine.live.snapshot import Happening
    from scaletui_engine.live.wave import WaveSample
    from scaletui_engine.live.window import Kept

Counted = tuple[Held, Held, Reason, Reason]
"""What was counted around a step, the part of it on the host, and why states and buffers were not."""

_LATEST: Final = Measured(
    "step", "step_ns", "allocated", "reserved", "active", "inactive_split", "requested", "reserved_peak",
    "allocated_peak_seen", "alloc_retries", "ooms", "driver_free", "driver_total", "host_rss",
)  # fmt: skip
_ALLOCATOR: Final = itemgetter(2, 3, 4, 5, 6, 8, 7, 9, 10)
"""From the layout's order to that of `Allocator`."""
_NO_FIGURES: Final = (None,) * 14
_UNCOUNTED: Final[Counted] = (NOTHING, NOTHING, Reason.NO_STEP_YET, Reason.NO_STEP_YET)
_put: Final = object.__setattr__


class Seen(NamedTuple):
    """Records and values that change no more."""

    path: str
    header: RingHeader
    boot_id: str
    """Of the machine that looks."""
    newest: Record | None
    step: Record | None
    sample: Record | None
    latest: Record | None
    """The newest that is no event."""
    at_step: HeldMemo[Counted]
    now: HeldMemo[Held]
    prediction: Prediction
    plan: JobPlan | None
    past: Past
    happenings: tuple[Happening, ...]
    units: Kept[WaveSample]
    sampled_peak: int | None
    resets_peak: bool

    def view(self, verdict: Verdict) -> RankView:
        """With the fields that every look at a job asks for; the others come when they are asked for."""
        view = RankView.__new__(RankView)
        _put(view, "_work", self.work)
        _put(view, "_past", self.past)
        _put(view, "path", self.path)
        _put(view, "identity", self.header.identity)
        _put(view, "verdict", verdict)
        _put(view, "created_wall_ns", self.header.created_wall_ns)
        return view

    def work(self, view: object, name: str) -> None:
        """Set a field of a view, and those that are worked out together with it."""
        _WORK.get(name, Seen.figures)(self, view)

    def figures(self, view: object) -> None:
        """What a list of ranks asks of every one of them, all at once."""
        newest, header, latest = self.newest, self.header, self.latest
        figures = latest.several(_LATEST) if latest else _NO_FIGURES
        step, step_ns, driver_free, driver_total, host_rss = *figures[:2], *figures[-3:]
        _put(view, "last_ns", newest.monotonic_ns if newest else header.created_monotonic_ns)
        _put(view, "same_clock", header.identity.boot_id == self.boot_id)
        _put(view, "step", step)
        _put(view, "step_ns", step_ns)
        _put(view, "driver_free", driver_free)
        _put(view, "driver_total", driver_total)
        _put(view, "host_rss", host_rss)
        _put(view, "allocator", None if figures[2] is None else Allocator(*_ALLOCATOR(figures)))
        _put(view, "prediction", self.prediction)
        _put(view, "plan", self.plan)
        _put(view, "happenings", self.happenings)
        _put(view, "sampled_peak", self.sampled_peak)
        _put(view, "resets_peak", self.resets_peak)
        self.counted(view)

    def counted(self, view: object) -> None:
        """The categories around the last step."""
        measured, on_host, states_reason, buffers_reason = self.at_step.of(self.step)
        _put(view, "measured", measured)
        _put(view, "on_host", on_host)
        _put(view, "states_reason", states_reason)
        _put(view, "buffers_reason", buffers_reason)

    def details(self, view: object) -> None:
        """What is asked of few ranks."""
        newest, header, latest = self.newest, self.header, self.latest
        reason = latest.reason("allocated") if latest else Reason.NO_STEP_YET
        _put(view, "last_wall_ns", newest.wall_ns if newest else header.created_wall_ns)
        _put(view, "measured_at_step", self.step.get("counted_at_step") if self.step else None)
        _put(view, "errors", newest.errors if newest else 0)
        _put(view, "allocator_reason", reason)

    def now_held(self, view: object) -> None:
        """The categories of the last sample."""
        _put(view, "now", self.now.of(self.sample))

    def points(self, view: object) -> None:
        """The last steps."""
        _put(view, "history", self.past.points)

    def waves(self, view: object) -> None:
        """The units' samples."""
        _put(view, "wave", self.units.items)


_WORK: Final[dict[str, Callable[[Seen, object], None]]] = {
    "history": Seen.points,
    "wave": Seen.waves,
    "now": Seen.now_held,
    **dict.fromkeys(("last_wall_ns", "measured_at_step", "errors", "allocator_reason"), Seen.details),
}
"""What a field comes from, where it is not what a list of ranks asks for."""


def memos() -> tuple[HeldMemo[Counted], HeldMemo[Held]]:
    """For one rank: what was counted around its last step, and in its last sample."""
    return HeldMemo(_counted_of, _UNCOUNTED), HeldMemo(held, NOTHING)


def _counted_of(step: Record) -> Counted:
    reasons = step.reason("weights_host"), step.reason("buffers_host")
    return held(step), held_on(step, "host"), *reasons
