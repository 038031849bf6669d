"""`scaletui schedule --compare A,B`: schedules side by side, and those that refuse with their reason."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.schedule_json import as_json, whole
from scaletui.commands.schedule_layout import given_layout
from scaletui.commands.schedule_memory import given_deltas
from scaletui.commands.schedule_options import choices_of
from scaletui.commands.schedule_request import Asked, asked, require_shape, times_of, transport_of
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui.view.row import Span
from scaletui.view.schedule_report import plain, time_text
from scaletui.view.table import Column, table_rows
from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.catalogue import Basis, Comparison, request_of, scaled
from scaletui_engine.schedule.modes.transport import simulate_transport
from scaletui_engine.schedule.registry import build, entry, schedule_names
from scaletui_engine.schedule.result import Result, result_of
from scaletui_engine.schedule.weights import model_copies

if TYPE_CHECKING:
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui.view.table import Line
    from scaletui_engine.schedule.deltas import Deltas


@dataclass(frozen=True, slots=True)
class _Entrant:
    """One schedule: what was asked and came out, or its refusal."""

    name: str
    found: Asked | None = None
    result: Result | None = None
    error: ScenarioError | None = None

    @property
    def refusal(self) -> str:
        """Why it cannot run, empty where it can."""
        return "" if self.error is None else refusal(self.error)


def compare(args: Namespace) -> int:
    """A table or one JSON object, NAME first, then in the order in which they were listed.

    Raises ScenarioError, the first's refusal, where none can run.
    """
    given_layout(args)  # decides the chunks of one schedule, and is refused here
    if args.scenario is None and args.load is None:
        require_shape(args)
    entrants = [_entrant(args, name) for name in _names(args)] if args.load is None else _beside_file(args)
    errors = [entrant.error for entrant in entrants if entrant.error is not None]
    if len(errors) == len(entrants):
        raise errors[0]
    if args.json:
        base = _base(entrants)
        print_json({"basis": _basis(args), "schedules": [_as_json(entrant, base) for entrant in entrants]})
        return 0
    print_rows(_table(entrants, width(), report_pen(args)))
    for entrant in entrants:
        if entrant.refusal:
            _print_wrapped(f"{entrant.name}: {entrant.refusal}")
    if args.scenario is None:
        _print_wrapped(_basis_text(_basis(args)))
    return 0


def _print_wrapped(text: str) -> None:
    print("\n".join(wrap(text, width(), subsequent_indent="  ")))


def _names(args: Namespace) -> list[str]:
    named = schedule_names() if args.compare == "all" else [part.strip() for part in args.compare.split(",")]
    every = [*([args.name] if args.name else []), *named]
    return list(dict.fromkeys(entry(name).name for name in every if name))


def _beside_file(args: Namespace) -> list[_Entrant]:
    """The order of the file, then the schedules for its shape."""
    found = asked(args, args.name)
    schedule, factor = found.schedule, 1.0
    ranks = schedule.stages
    if _basis(args) is Basis.RANKS:
        ranks, factor = schedule.ranks, 1.0 / schedule.shape.chunks
    memory = None if found.memory is None else found.memory.scaled(factor)
    own = replace(found, times=scaled(found.times, factor), memory=memory)
    shape = {"stages": ranks, "microbatches": schedule.shape.microbatches, "chunks": schedule.shape.chunks}
    like = Namespace(**{**vars(args), **shape, "load": None})
    return [_simulated(args, schedule.name, own), *(_entrant(like, name) for name in _names(args))]


def _entrant(args: Namespace, name: str) -> _Entrant:
    try:
        found = asked(args, name) if args.scenario else _asked(args, name)
    except ScenarioError as error:
        return _Entrant(name, error=error)
    return _simulated(args, name, found)


def _simulated(args: Namespace, name: str, found: Asked) -> _Entrant:
    try:
        timeline = simulate_transport(found.schedule, found.times, transport_of(args))
        return _Entrant(name, found, result_of(timeline, found.counted))
    except ScenarioError as error:
        return _Entrant(name, error=error)


def _asked(args: Namespace, name: str) -> Asked:
    comparison = Comparison(
        ranks=args.stages,
        microbatches=args.microbatches,
        chunks=2 if args.chunks is None else args.chunks,
        times=times_of(args),
        basis=_basis(args),
        choices=choices_of(args),
    )
    request = request_of(comparison, name)
    return Asked(build(request), request.times, memory=_memory(args, request.shape.chunks))


def _memory(args: Namespace, chunks: int) -> Deltas | None:
    """What was given, as times are: of all that a rank holds, or of a stage."""
    deltas = given_deltas(args)
    return deltas.scaled(1.0 / chunks) if deltas and _basis(args) is Basis.RANKS else deltas


def _basis(args: Namespace) -> Basis:
    return Basis.RANKS if args.basis is None else Basis(args.basis)


def _basis_text(basis: Basis) -> str:
    if basis is Basis.STAGES:
        return tr("the same stages: a schedule of v chunks a rank has 1/v of the ranks")
    return tr("the same ranks: times are of all that a rank holds, and each of v chunks takes 1/v of them")


def _base(entrants: list[_Entrant]) -> Result:
    """The first that can run: every change is from it."""
    return next(entrant.result for entrant in entrants if entrant.result is not None)


def _as_json(entrant: _Entrant, base: Result) -> dict[str, Any]:
    if entrant.found is None or entrant.result is None:
        return {"name": entrant.name, "refusal": entrant.refusal}
    return {**as_json(entrant.result, entrant.found), "change": _changes(entrant.result, base)}


def _changes(result: Result, base: Result) -> dict[str, float | int]:
    """What is added to the first one's figures, signed; the highest peak is in microbatches of a rank."""
    return {
        "makespan": whole(result.timeline.makespan - base.timeline.makespan),
        "B": result.bubble.over_makespan - base.bubble.over_makespan,
        "peak_microbatches": whole(_peak(result) - _peak(base)),
    }


def _peak(result: Result) -> float:
    """The highest of a rank, in microbatches of all that it holds."""
    return float(result.activations.peak.max()) / result.timeline.schedule.shape.chunks


def _table(entrants: list[_Entrant], room: int, pen: Pen) -> tuple[Row, ...]:
    columns = (
        Column(tr("schedule")),
        Column(tr("ranks"), numeric=True, rank=4),
        Column(tr("makespan"), numeric=True),
        Column(tr("change"), numeric=True),
        Column(tr("A ideal"), numeric=True, rank=4),
        Column(tr("B makespan"), numeric=True),
        Column(tr("C span"), numeric=True, rank=1),
        Column(tr("peak"), numeric=True),
        Column(tr("copies"), numeric=True, rank=3),
        *([Column(tr("memory"), numeric=True)] if _is_given(entrants) else []),
    )
    lines = [_line(entrant, _base(entrants), pen) for entrant in entrants if entrant.result is not None]
    return table_rows(columns, lines, room, pen.glyphs.ellipsis)


def _is_given(entrants: list[_Entrant]) -> bool:
    return any(entrant.found is not None and entrant.found.memory is not None for entrant in entrants)


def _line(entrant: _Entrant, base: Result, pen: Pen) -> Line:
    """The change is the makespan's from the first one's."""
    assert entrant.found is not None
    assert entrant.result is not None
    result, numbers = entrant.result, pen.numbers
    bubble, schedule = result.bubble, result.timeline.schedule
    shares = (bubble.over_ideal, bubble.over_makespan, bubble.zero_bubble)
    texts = [
        entrant.name,
        str(schedule.ranks),
        time_text(result, result.timeline.makespan, numbers),
        numbers.signed_percent(result.timeline.makespan / base.timeline.makespan - 1.0),
        *(numbers.percent(share, 1) for share in shares),
        plain(_peak(result), numbers),
        plain(model_copies(schedule), numbers),
    ]
    if entrant.found.memory is not None:
        texts.append(plain(float(result.memory.peak.max()), numbers))
    return tuple(Span(text) for text in texts)
