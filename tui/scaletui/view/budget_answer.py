"""The first line of the budget: does it fit, on which stage, at which moment, and what an edit changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.budget import needed_change
from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.assumed import idle_share
from scaletui.view.big import BIG_HEIGHT, big_text
from scaletui.view.row import Row, Span, beside, fit, row_width

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.budget import MemoryBudget


def answer_rows(state: BudgetState, width: int, pen: Pen) -> tuple[Row, ...]:
    """One row, or three where it has to be read from afar."""
    budget = state.budget
    if budget is None:
        blank = fit((Span(" " + tr("counting ..."), "dim"),), width)
        return (blank, *(fit((), width),) * (BIG_HEIGHT - 1)) if pen.big else (blank,)
    if pen.big:
        return _big(budget, width, pen)
    verdict, change = verdict_spans(budget, pen), _change(state, pen)
    more = (Span("   " + _needs(budget, pen)), *_idle(state, pen), Span("   " + _peak(budget), "dim"))
    for count in range(len(more), -1, -1):
        line = (*verdict, *more[:count])
        if row_width(line) + row_width(change) <= width:
            return (beside(line, change, width),)
    return (beside(verdict, change, width),)


def verdict_spans(budget: MemoryBudget, pen: Pen) -> Row:
    """ "fits, 38.4 GiB free" or "over by 11.9 GiB on stage 0", with a mark so that colour is not alone."""
    amount = pen.numbers.bytes(abs(budget.headroom_bytes))
    if budget.fits:
        return (Span(f" {pen.glyphs.ok} {tr('fits, {amount} free', amount=amount)}", "ok"),)
    words = tr("over by {amount} on stage {stage}", amount=amount, stage=budget.peak.stage)
    return (Span(f" {pen.glyphs.bad} {words}", "error"),)


def _needs(budget: MemoryBudget, pen: Pen) -> str:
    needed = pen.numbers.gib(budget.peak.needed_bytes)
    capacity = pen.numbers.bytes(budget.capacity_bytes)
    return tr("needs {needed} of {capacity}", needed=needed, capacity=capacity)


def _idle(state: BudgetState, pen: Pen) -> Row:
    """A plan that fits and leaves the GPUs waiting."""
    share = idle_share(state.answer.scenario) if state.answer else 0.0
    if not share:
        return ()
    return (Span("   " + tr("pipeline idle {share}", share=pen.numbers.percent(share)), "warn"),)


def _peak(budget: MemoryBudget) -> str:
    return tr("peak: {moment}", moment=explain(f"phase.{budget.peak.phase}"))


def _change(state: BudgetState, pen: Pen) -> Row:
    change = needed_change(state)
    if change is None:
        return ()
    text = tr("change {amount}", amount=pen.numbers.signed(change, pen.numbers.bytes))
    return (Span(f"  {text} ", "warn" if change > 0 else "ok" if change < 0 else "dim"),)


def _big(budget: MemoryBudget, width: int, pen: Pen) -> tuple[Row, ...]:
    role = "ok" if budget.fits else "error"
    mark = pen.glyphs.ok if budget.fits else pen.glyphs.bad
    figure = big_text(pen.numbers.gib(abs(budget.headroom_bytes)), pen.glyphs)
    words = (
        tr("fits, free") if budget.fits else tr("over by"),
        pen.numbers.unit,
        _needs(budget, pen),
    )
    return tuple(
        fit(
            (
                Span(f" {mark if line == 0 else ' '} "),
                Span(figure[line], role),
                Span(f"  {words[line]}", role),
            ),
            width,
        )
        for line in range(BIG_HEIGHT)
    )
