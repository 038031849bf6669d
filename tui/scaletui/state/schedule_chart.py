"""Questions that a screen asks of one simulated schedule, answered in a few milliseconds at any size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui.state.schedule import KINDS
from scaletui.state.schedule_near import Near, near
from scaletui_engine.schedule.activations import Staircase, staircase
from scaletui_engine.schedule.explore.around import cell_at
from scaletui_engine.schedule.explore.chart import chart_of
from scaletui_engine.schedule.explore.steps import moments, next_moment, previous_moment
from scaletui_engine.schedule.explore.window import Window, actions_at, density
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui.state.schedule_stretch import Stretch
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.result import Result
    from scaletui_engine.schedule.timeline import Timeline

_KEPT: Final = 64
"""Answers that each question remembers."""
_PARTLY: Final = 1 / 6
_SECOND: Final = 0.2
"""The share of the busy time from which on a second kind is told."""
_MOSTLY: Final = 1 / 2
"""The share of a group's ranks from which on an optimizer step is shown as the group's."""
_UPDATE_SHADE: Final = 1 << 10
"""Beyond the codes of actions."""
UPDATE: Final = NOTHING - 1
"""In the place of an action: the optimizer step."""
_WHOLLY: Final = 2 / 3
"""Shares of a column from which on it counts as busy in part, and as busy."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring columns of a rank that show the same."""

    columns: int
    index: int = NOTHING
    """The action; `NOTHING` where the rank idles."""
    role: str = "idle"
    chunk: int = 0
    """Place of the stage among those of its rank."""
    microbatch: int = 0
    slice: int = 0
    """Slice of the sequence, where sequences are sliced."""


@dataclass(frozen=True, slots=True)
class Shade:
    """Neighbouring columns in which the same kind prevails."""

    columns: int
    role: str = "idle"
    second: str = ""
    """The kind that comes next, where it takes a good part of the time as well."""
    busy: int = 0
    """0 idle, 1 partly, 2 wholly."""
    critical: bool = False
    """Whether the critical path runs here."""


class ScheduleChart:
    """One result; what is asked again is remembered."""

    def __init__(self, result: Result, step: OptimizerStep | None = None) -> None:
        self.result: Final = result
        self.step: Final = step
        self._chart: Final = chart_of(result.timeline)
        self._chunk: Final = _chunks(result.timeline)
        self._moments: Final = _moments(result.timeline, step)
        self._stairs: dict[int, Staircase] = {}
        # A playhead that moves within a page asks the same again for every rank.
        self.pieces = lru_cache(_KEPT)(self._pieces)
        self.shades = lru_cache(_KEPT)(self._shades)
        self.levels = lru_cache(_KEPT)(self._levels)

    @property
    def timeline(self) -> Timeline:
        """Starts and ends of all actions."""
        return self.result.timeline

    @cached_property
    def shortest(self) -> float:
        """What a short action takes: nine of ten take as long or longer."""
        length = self.timeline.end - self.timeline.start
        return float(np.quantile(length[length > 0], 0.1))

    @cached_property
    def critical(self) -> frozenset[int]:
        """The actions of the critical path, both of a pair."""
        path = self.result.critical_path
        joined = self.timeline.table.joined
        return frozenset(path) | {index - 1 for index in path if joined[index]}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Roles of the actions that occur."""
        return tuple(KINDS[kind] for kind in np.unique(self.timeline.table.kind).tolist())

    def stages_of(self, rank: int) -> tuple[int, ...]:
        """The stages that a rank holds."""
        return self.timeline.schedule.placement.stages_of(rank)

    def _pieces(self, stretch: Stretch, ranks: range) -> tuple[tuple[Piece, ...], ...]:
        """What each rank does in each column; a pair is shown as one half after the other."""
        edges = np.linspace(stretch.start, stretch.end, stretch.columns + 1)
        times = (edges[:-1] + edges[1:]) / 2
        lanes = self._chart.lanes[ranks.start : ranks.stop]
        found = np.stack([_halved(self.timeline, actions_at(lane, times), times) for lane in lanes])
        if self.step is not None:
            found[_updating(self.step, times)[ranks.start : ranks.stop]] = UPDATE
        return tuple(self._row(row) for row in found)

    def _shades(self, stretch: Stretch, groups: tuple[range, ...]) -> tuple[tuple[Shade, ...], ...]:
        """What prevails in each column, one row for each group of ranks."""
        window = Window(stretch.start, stretch.end, stretch.columns)
        shares = density(self._chart, window)
        on_path = self._path(window)
        updates = np.zeros(shares.shape[:2])
        if self.step is not None:
            updates += _updating(self.step, (window.edges[:-1] + window.edges[1:]) / 2)
        rows = [
            _shades_of(_mean(shares, group), np.isin(on_path, group), _mean(updates, group) >= _MOSTLY)
            for group in groups
        ]
        return tuple(rows)

    def _levels(self, stretch: Stretch, rank: int) -> tuple[float, ...]:
        """[columns] the most microbatches that are alive on a rank in each column."""
        stairs = self._staircase(rank)
        edges = np.linspace(stretch.start, stretch.end, stretch.columns + 1)
        first = np.searchsorted(stairs.time, edges[:-1] + 1e-9, side="right") - 1
        last = np.searchsorted(stairs.time, edges[1:] - 1e-9, side="left")
        bounds = np.stack([first, np.maximum(last, first + 1)], axis=1).ravel()
        highest = np.maximum.reduceat(np.append(stairs.level, 0.0), bounds)[::2]
        return tuple((highest / self.timeline.schedule.shape.chunks).tolist())

    def index_at(self, rank: int, time: float) -> int:
        """The action that runs on a rank at a time, `NOTHING` where it idles."""
        return cell_at(self._chart, rank, min(time, self.timeline.makespan * (1 - 1e-12)))

    def near(self, rank: int, time: float) -> Near:
        """What a rank does at a time, what that hangs on, or why it does nothing."""
        if self.step is not None and self.step.start[rank] <= time:
            return Near(rank, float(self.step.start[rank]), float(self.step.end[rank]), reason="update")
        return near(self.result, self._chart, rank, time)

    def next(self, time: float) -> float:
        """When something next starts or ends."""
        return next_moment(self._moments, time + 1e-9)

    def previous(self, time: float) -> float:
        """When something last started or ended."""
        return previous_moment(self._moments, time - 1e-9)

    def _row(self, row: NDArray[np.int64]) -> tuple[Piece, ...]:
        table, slices = self.timeline.table, self.timeline.schedule.slices
        starts = np.flatnonzero(np.diff(row, prepend=NOTHING - 1))
        widths = np.diff(starts, append=len(row)).tolist()
        index = row[starts]
        kinds, units = table.kind[index].tolist(), table.microbatch[index].tolist()
        chunks = self._chunk[table.rank[index], table.stage[index]].tolist()
        return tuple(
            Piece(width, at, KINDS[kind], chunk, unit // slices, unit % slices)
            if at >= 0
            else _none(width, at)
            for width, at, kind, chunk, unit in zip(widths, index.tolist(), kinds, chunks, units, strict=True)
        )

    def _path(self, window: Window) -> NDArray[np.int64]:
        """[columns] the rank on which the critical path is in the middle of each column."""
        path = np.array(self.result.critical_path, dtype=np.int64)
        edges = window.edges
        place = np.searchsorted(self.timeline.start[path], (edges[:-1] + edges[1:]) / 2, side="right") - 1
        return self.timeline.table.rank[path[np.maximum(place, 0)]]

    def _staircase(self, rank: int) -> Staircase:
        if rank not in self._stairs:
            self._stairs[rank] = staircase(self.timeline, self.result.activations, rank)
        return self._stairs[rank]


def _none(width: int, index: int) -> Piece:
    """No action: the optimizer step, or nothing."""
    return Piece(width, role="optimizer") if index == UPDATE else Piece(width)


def _moments(timeline: Timeline, step: OptimizerStep | None) -> NDArray[np.float64]:
    """Where something starts or ends, the optimizer step included."""
    every = moments(timeline)
    return every if step is None else np.unique(np.concatenate((every, step.start, step.end)))


def _updating(step: OptimizerStep, times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[ranks, times] whether a rank runs its optimizer step."""
    return (step.start[:, None] <= times) & (times < step.end[:, None])


def _mean(values: NDArray[np.float64], group: range) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = values[group.start : group.stop].mean(axis=0)
    return mean


def _chunks(timeline: Timeline) -> NDArray[np.int64]:
    """[ranks, stages] the place of a stage among those of a rank."""
    placement = timeline.schedule.placement
    chunk = np.zeros((timeline.schedule.ranks, placement.stages), dtype=np.int64)
    for stage, ranks in enumerate(placement.ranks_of):
        for rank in ranks:
            chunk[rank, stage + 1 :] += 1
    return chunk


def _halved(timeline: Timeline, found: NDArray[np.int64], times: NDArray[np.float64]) -> NDArray[np.int64]:
    last = np.where(found == NOTHING, NOTHING, timeline.table.last[found])
    middle = (timeline.start[found] + timeline.end[found]) / 2
    return np.where((last != found) & (times >= middle), last, found)


def _shades_of(
    shares: NDArray[np.float64], on_path: NDArray[np.bool_], updates: NDArray[np.bool_]
) -> tuple[Shade, ...]:
    """`shares` is [columns, 4], the others [columns]."""
    total = shares.sum(axis=1)
    busy = (total >= _PARTLY).astype(np.int64) + (total >= _WHOLLY)
    order = np.argsort(-shares, axis=1, kind="stable")
    share = np.take_along_axis(shares, order, axis=1)
    second = np.where(share[:, 1] >= _SECOND * total, order[:, 1] + 1, 0)
    code = np.where(busy > 0, ((order[:, 0] * 5 + second) * 3 + busy) * 2, 0) + on_path
    code = np.where(updates & (busy == 0), _UPDATE_SHADE, code)
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    widths = np.diff(starts, append=len(code)).tolist()
    return tuple(_shade(width, at) for width, at in zip(widths, code[starts].tolist(), strict=True))


@cache
def _shade(columns: int, code: int) -> Shade:
    if code == _UPDATE_SHADE:
        return Shade(columns, "optimizer", busy=2)
    rest, critical = divmod(code, 2)
    rest, busy = divmod(rest, 3)
    first, second = divmod(rest, 5)
    if not busy:
        return Shade(columns, critical=bool(critical))
    return Shade(columns, KINDS[first], KINDS[second - 1] if second else "", busy, bool(critical))
