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
    from scaletui_engine.live.history import Point
    from scaletui_engine.live.plan_document import JobPlan
    from scaletui_engine.live.prediction import Prediction
    from scaletui_engine.live.record import Record
    from scaletui_engine.live.snapshot import Happening
    from scaletui_engine.live.wave import WaveSample
    from scaletui_engine.live.window import Past

Counted = tuple[Held, Held, Reason, Reason]
"""What was counted around a step, the part of it on the host, and why states and buffers were not."""

_ALLOCATOR: Final = Measured(
    "allocated", "reserved", "active", "inactive_split", "requested", "reserved_peak", "allocated_peak_seen",
    "alloc_retries", "ooms",
)  # fmt: skip
_AS_FIELDS: Final = itemgetter(0, 1, 2, 3, 4, 6, 5, 7, 8)
"""From the layout's order to that of `Allocator`."""
_LATEST: Final = Measured("step", "step_ns", "driver_free", "driver_total", "host_rss")
_NO_FIGURES: Final = (None,) * 5
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
    past: Past[Point]
    happenings: tuple[Happening, ...]
    units: Past[WaveSample]
    sampled_peak: int | None
    resets_peak: bool

    def view(self, verdict: Verdict) -> RankView:
        """With the fields that every look at a job asks for; the others come when they are asked for."""
        view = RankView.__new__(RankView)
        _put(view, "_work", self.work)
        _put(view, "path", self.path)
        _put(view, "identity", self.header.identity)
        _put(view, "verdict", verdict)
        _put(view, "created_wall_ns", self.header.created_wall_ns)
        return view

    def work(self, view: object, name: str) -> None:
        """Set a field of a view, and those that are worked out together with it."""
        for field, value in _WORK.get(name, Seen.figures)(self).items():
            _put(view, field, value)

    def figures(self) -> dict[str, object]:
        """Everything that is only to be looked up."""
        newest, header, latest = self.newest, self.header, self.latest
        figures = latest.several(_LATEST) if latest else _NO_FIGURES
        step, step_ns, driver_free, driver_total, host_rss = figures
        return {
            "last_ns": newest.monotonic_ns if newest else header.created_monotonic_ns,
            "last_wall_ns": newest.wall_ns if newest else header.created_wall_ns,
            "same_clock": header.identity.boot_id == self.boot_id, "step": step, "step_ns": step_ns,
            "measured_at_step": self.step.get("counted_at_step") if self.step else None,
            "prediction": self.prediction, "plan": self.plan,
            "host_rss": host_rss, "driver_free": driver_free, "driver_total": driver_total,
            "errors": newest.errors if newest else 0, "happenings": self.happenings,
            "sampled_peak": self.sampled_peak, "resets_peak": self.resets_peak,
        }  # fmt: skip

    def counted(self) -> dict[str, object]:
        """The categories around the last step."""
        names = ("measured", "on_host", "states_reason", "buffers_reason")
        return dict(zip(names, self.at_step.of(self.step), strict=True))

    def allocators(self) -> dict[str, object]:
        """What the allocator says, or why it says nothing."""
        latest = self.latest
        reason = latest.reason("allocated") if latest else Reason.NO_STEP_YET
        return {"allocator": _allocator(latest), "allocator_reason": reason}


_WORK: Final[dict[str, Callable[[Seen], dict[str, object]]]] = {
    "history": lambda seen: {"history": seen.past.items},
    "wave": lambda seen: {"wave": seen.units.items},
    "now": lambda seen: {"now": seen.now.of(seen.sample)},
    **dict.fromkeys(("measured", "on_host", "states_reason", "buffers_reason"), Seen.counted),
    **dict.fromkeys(("allocator", "allocator_reason"), Seen.allocators),
}
"""What a field comes from, where it is more than a look-up."""


def memos() -> tuple[HeldMemo[Counted], HeldMemo[Held]]:
    """For one rank: what was counted around its last step, and in its last sample."""
    return HeldMemo(_counted_of, _UNCOUNTED), HeldMemo(held, NOTHING)


def _counted_of(step: Record) -> Counted:
    reasons = step.reason("weights_host"), step.reason("buffers_host")
    return held(step), held_on(step, "host"), *reasons


def _allocator(record: Record | None) -> Allocator | None:
    if record is None:
        return None
    figures = record.several(_ALLOCATOR)
    return None if figures[0] is None else Allocator(*_AS_FIELDS(figures))
