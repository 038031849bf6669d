"""Looks as a table for spreadsheets and scripts: one row for each rank that has said something new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui_engine.live.driver.matching import Finder
from scaletui_engine.live.held import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaletui_engine.live.driver.reading import DriverView
    from scaletui_engine.live.held import Held
    from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot

Cell: TypeAlias = "int | float | str | None"
"""None where nothing was measured, which is not the same as 0."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One rank at one look, and what happened to it since the look before."""

    moment: Moment
    job: JobView
    rank: RankView
    driver: DriverView | None
    """Its GPU as the driver sees it, where there is one."""
    events: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    name: str
    unit: str
    """"bytes", "s", "steps", "count", "%", "W", "C", or empty for words and numbers without one."""
    meaning: str
    cell: Callable[[Sight], Cell]


def _of_rank(name: str) -> Callable[[Sight], Cell]:
    return lambda sight: getattr(sight.rank, name)


def _of_identity(name: str) -> Callable[[Sight], Cell]:
    return lambda sight: getattr(sight.rank.identity, name)


def _held_columns(group: str, held: Callable[[RankView], Held], meaning: str) -> tuple[Column, ...]:
    def column(category: str) -> Column:
        def cell(sight: Sight) -> Cell:
            found: Cell = getattr(held(sight.rank), category)
            return found

        about = meaning.format(category.replace("_", " "))
        return Column(f"{group}_{category}_bytes", "bytes", about, cell)

    return tuple(column(category) for category in CATEGORIES)


def _gpu(name: str, unit: str, meaning: str, scale: float = 1) -> Column:
    """A figure of the driver; None where it gave a reason in place of it."""

    def cell(sight: Sight) -> Cell:
        found: object = getattr(sight.driver, name, None)
        if not isinstance(found, int):
            return None
        return found if scale == 1 else found / scale

    suffix = {"bytes": "_bytes", "%": "_percent", "W": "_w", "C": ""}[unit]
    return Column(f"gpu_{name.removesuffix('_mw')}{suffix}", unit, meaning, cell)


def _allocator(name: str, unit: str, meaning: str) -> Column:
    def cell(sight: Sight) -> Cell:
        found: Cell = getattr(sight.rank.allocator, name, None)
        return found

    suffix = "_bytes" if unit == "bytes" else ""
    return Column(f"allocator_{name}{suffix}", unit, meaning, cell)


COLUMNS: Final = (
    Column("time_s", "s", "of the look, since 1970-01-01 UTC", lambda sight: sight.moment.wall_ns / 1e9),
    Column("job", "", "name of the job", lambda sight: sight.job.id),
    Column("attempt", "count", "restarts before this attempt", lambda sight: sight.job.attempt),
    Column("rank", "", "number of the rank", _of_identity("rank")),
    Column("host", "", "its machine", _of_identity("host")),
    Column("pid", "", "its process", lambda sight: sight.rank.identity.process.pid),
    Column("device", "", "UUID of its GPU, or cpu",
           lambda sight: sight.rank.identity.device_uuid or sight.rank.identity.device_type),
    Column("state", "", "running, exited or lost", lambda sight: str(sight.rank.verdict.state)),
    Column("what", "", "what happened to it", lambda sight: str(sight.rank.verdict.what) or None),
    Column("what_detail", "", "class, signal or code that goes with it",
           lambda sight: sight.rank.verdict.detail or None),
    Column("events", "", "what it reported since the look before", lambda sight: sight.events or None),
    Column("age_s", "s", "since its newest record", lambda sight: round(sight.rank.age_s(sight.moment), 6)),
    Column("step", "steps", "optimizer steps done", _of_rank("step")),
    Column("step_time_s", "s", "from the step before the last to the last",
           lambda sight: None if sight.rank.step_ns is None else sight.rank.step_ns / 1e9),
    Column("measured_at_step", "steps", "at which measured_* were counted", _of_rank("measured_at_step")),
    *_held_columns("measured", lambda rank: rank.measured, "{}, counted after an optimizer step"),
    *_held_columns("now", lambda rank: rank.now, "{}, in the last sample"),
    *_held_columns("predicted", lambda rank: rank.prediction.held, "{}, computed from the plan"),
    _allocator("allocated", "bytes", "held by tensors"),
    _allocator("reserved", "bytes", "taken from the driver"),
    _allocator("active", "bytes", "allocated, and blocks that other streams still use"),
    _allocator("inactive_split", "bytes", "free parts of split segments"),
    _allocator("peak", "bytes", "the largest allocated seen"),
    _allocator("reserved_peak", "bytes", "the largest reserved"),
    _allocator("retries", "count", "caches emptied to try again"),
    _allocator("ooms", "count", "requests that failed"),
    Column("host_rss_bytes", "bytes", "resident memory of the process", _of_rank("host_rss")),
    Column("driver_free_bytes", "bytes", "free on its GPU, as its process knows", _of_rank("driver_free")),
    Column("driver_total_bytes", "bytes", "of its GPU, likewise", _of_rank("driver_total")),
    _gpu("used", "bytes", "of its GPU in use by anybody, as NVML sees it"),
    _gpu("total", "bytes", "of its GPU, likewise"),
    _gpu("utilization", "%", "of its GPU, in NVML's last sample period"),
    _gpu("power_mw", "W", "drawn by its GPU", 1_000),
    _gpu("temperature_c", "C", "of its GPU"),
)  # fmt: skip
"""Every column, in the order in which it is written."""


def sights(looks: Iterator[Snapshot]) -> Iterator[Sight]:
    """Every rank of every look, but for those that are as they were at the look before."""
    before: dict[tuple[str, int, int], RankView] = {}
    for look in looks:
        now: dict[tuple[str, int, int], RankView] = {}
        finder = Finder(look.drivers)
        for job in look.jobs:
            for rank in job.ranks:
                key = (job.id, job.attempt, rank.identity.rank)
                now[key] = rank
                known = before.get(key)
                if known is None or known != rank:
                    yield Sight(look.moment, job, rank, finder.find(rank), _events(known, rank))
        before = now


def row(sight: Sight) -> dict[str, Cell]:
    """Column -> cell."""
    return {column.name: column.cell(sight) for column in COLUMNS}


def _events(known: RankView | None, rank: RankView) -> str:
    """What was reported since; without a look before, everything that is still known."""
    seen = () if known is None else known.happenings
    new = (happening for happening in rank.happenings if happening not in seen)
    return " ".join(happening.event.name.lower() for happening in new)
