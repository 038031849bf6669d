"""What would make this job need less memory: single changes of its scenario, rebuilt from its plan."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.state.live_scenario import fixes_of, foretold_of, rise_of, scenario_of
from scaletui.text.language import N_, tr
from scaletui.text.refusals import translated
from scaletui.view.budget_fixes import cost_text, fix_name
from scaletui.view.cells import left, right, width_of
from scaletui.view.facts import scenario_facts
from scaletui.view.live_forecast import growth_text
from scaletui.view.live_unseen import hides_steps, no_plan_text
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui_engine.live.outcome import Unbuilt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.live import LiveState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.live.outcome import Rebuilt
    from scaletui_engine.live.snapshot import RankView
    from scaletui_engine.memory.fixes import Fix

NAME: Final = 26
SAVES: Final = 12
_WHY: Final = MappingProxyType({
    "no plan": N_("the job has not told its plan yet: it does so at its first optimizer step"),
    "plan cut": N_("the plan does not hold all of the parameters"),
    "mesh": N_("the mesh and the number of ranks do not agree: {detail}"),
    "architecture": N_("its parameters are those of no model that the engine knows: {detail}"),
    "names": N_(
        "its parameters have no names: outside FSDP2 an optimizer has to be given model.named_parameters()"
    ),
    "optimizer": N_("the engine has no rule for its optimizer"),
    "precision": N_("the engine has no rule for its number formats"),
    "scenario": N_("the engine refuses it: {detail}"),
})  # fmt: skip


def fit_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds."""
    rank = state_of.rank(state)
    return () if rank is None else tuple(_rows(state, rank, box.width, pen))[: box.height]


def _rows(state: LiveState, rank: RankView, width: int, pen: Pen) -> Iterator[Row]:
    leave = f"esc {tr('leave')}"
    yield rule_row(tr("what would make this job need less"), width, pen, [(width - 1, leave)])
    found = scenario_of(state, rank)
    if isinstance(found, Unbuilt):
        is_hidden = rank.plan is None and hides_steps(rank)
        why = no_plan_text(rank) if is_hidden else tr(_WHY[found.why], detail=translated(found.detail))
        yield from wrapped(why, width, "warn")
        return
    yield from wrapped(", ".join(scenario_facts(found.scenario, pen)), width)
    yield from _situation(state, rank, found, (width, pen))
    changes = fixes_of(found)
    yield fit((), width)
    yield rule_row(_title(changes, found), width, pen, [(width - 1, tr("in return"))])
    for change in changes:
        yield _change(change, width, pen)
    yield from wrapped(tr("b opens this scenario in Budget, i sets micro-batch and sequence"), width, "dim")


def _situation(state: LiveState, rank: RankView, found: Rebuilt, place: tuple[int, Pen]) -> Iterator[Row]:
    """What is predicted and measured at the peak, and what the numbers rest on."""
    width, pen = place
    told, rise = foretold_of(state, rank), rise_of(state, rank)
    if told is None:
        text = tr("micro-batch and sequence are not known: with 1 x 128 for them only the states are right")
        yield from wrapped(text, width, "warn")
    elif rise is None:
        amount = pen.numbers.size(told.total)
        yield pair_row(tr("predicted at the peak, beyond states"), amount, width, pen)
    else:
        figures = f"{pen.numbers.size(rise.predicted)}, {tr('measured')} {pen.numbers.size(rise.measured)}"
        yield pair_row(tr("predicted at the peak, beyond states"), figures, width, pen)
    if rank.allocator is not None:
        yield from wrapped(growth_text(rank, pen), width, "dim")
    if not rank.driver_total:
        gpu = found.scenario.cluster.gpu.name
        yield from wrapped(tr("this is a CPU job: held against a {gpu}", gpu=gpu), width, "dim")


def _title(changes: tuple[Fix, ...], found: Rebuilt) -> str:
    del found
    if any(change.fits for change in changes):
        return tr("one change that is enough, and what it saves")
    return tr("one change, and what it saves")


def _change(change: Fix, width: int, pen: Pen) -> Row:
    mark = Span(f" {pen.glyphs.ok} ", "ok") if change.fits else Span("   ")
    room = max(min(width - SAVES - 4, NAME), 8)
    cost = cost_text(change, pen)
    gap = " " * max(width - 3 - room - SAVES - width_of(cost) - 1, 2)
    saves = right(pen.numbers.signed(-change.saved_bytes, pen.numbers.size), SAVES)
    name = left(fix_name(change), room, pen.glyphs.ellipsis)
    return fit((mark, Span(name), Span(saves, "ok"), Span(f"{gap}{cost}", "dim")), width)
