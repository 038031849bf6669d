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
    """ "fits, 38.4 GiB free" or "over by 11.9 GiB on stage 0", with a mark so that colour is not alone.

    Between them "may be over": the likely figure fits, the high end of the range does not.
    """
    told = {"amount": pen.numbers.bytes(abs(budget.headroom_bytes)), "stage": budget.peak.stage}
    mark, role = _judged(budget, pen)
    if budget.fits:
        words = tr("fits, {amount} free", **told)
    elif budget.may_fit:
        words = tr("may be over, by up to {amount} on stage {stage}", **told)
    else:
        words = tr("over by {amount} on stage {stage}", **told)
    return (Span(f" {mark} {words}", role),)


def _judged(budget: MemoryBudget, pen: Pen) -> tuple[str, str]:
    """Mark and role."""
    if budget.fits:
        return pen.glyphs.ok, "ok"
    return (pen.glyphs.doubt, "warn") if budget.may_fit else (pen.glyphs.bad, "error")


def _needs(budget: MemoryBudget, pen: Pen) -> str:
    needed = pen.numbers.gib(budget.peak.needed_bytes)
    capacity = pen.numbers.bytes(budget.capacity_bytes)
    if budget.may_fit and not budget.fits:
        likely = pen.numbers.gib(budget.peak.likely_bytes)
        return tr("needs {likely} to {needed} of {capacity}", likely=likely, needed=needed, capacity=capacity)
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
    mark, role = _judged(budget, pen)
    figure = big_text(pen.numbers.gib(abs(budget.headroom_bytes)), pen.glyphs)
    words = (
        tr("fits, free") if budget.fits else tr("may be over by") if budget.may_fit else tr("over by"),
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
