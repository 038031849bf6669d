"""What would make a scenario fit: the extreme of one field, and single changes with what they cost."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state.editing import value_text
from scaletui.text.language import N_, tr
from scaletui.view.budget_compared import differences
from scaletui.view.budget_fixes import cost_text, fix_name
from scaletui.view.field_names import field_name
from scaletui.view.memory_report_table import sentence_table
from scaletui.view.row import Row, Span
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.view.pen import Pen
    from scaletui_engine.memory.fixes import Fix
    from scaletui_engine.memory.solve import Solution
    from scaletui_engine.scenario import Scenario

_FOUND: Final = MappingProxyType({
    "micro_batch": N_("largest micro-batch that fits: {value}, now {now}"),
    "seq": N_("longest sequence that fits: {value}, now {now}"),
    "gpus": N_("fewest GPUs that fit: {value}, now {now}"),
})  # fmt: skip
_MORE: Final = N_("the search ends there; memory would allow more")
_LONGEST: Final = N_("the model's longest sequence; memory would allow more")


def solution_rows(scenario: Scenario, found: Solution, width: int, pen: Pen) -> Iterator[Row]:
    """The value, what is free with it, and what it takes along."""
    yield rule_row(tr("limit of {field}", field=field_name(found.field)), width, pen)
    if found.value is None or found.scenario is None or found.budget is None:
        yield from wrapped(tr("{field}: no value fits", field=field_name(found.field)), width)
        yield from wrapped(tr("--fix ranks the other changes by what they save"), width)
        return
    value = pen.numbers.integer(found.value)
    now = value_text(scenario, found.field)
    yield from wrapped(tr(_FOUND[found.field], value=value, now=_grouped(now, pen)), width)
    if found.bound is not None:
        yield from wrapped(tr(_LONGEST if found.field == "seq" else _MORE), width)
    number, budget = pen.numbers, found.budget
    sizes = {
        "needed": number.gib(budget.peak.needed_bytes),
        "capacity": number.bytes(budget.capacity_bytes),
        "rest": number.bytes(budget.headroom_bytes),
    }
    yield from wrapped(tr("fits: at most {needed} of {capacity}, {rest} free", **sizes), width)
    for field, then, after in differences(scenario, found.scenario):
        if field != found.field:
            yield from wrapped(f"{field_name(field)} {then} {pen.glyphs.more} {after}", width, "dim", "   ")


def _grouped(text: str, pen: Pen) -> str:
    return pen.numbers.integer(int(text))


def changes_rows(found: Sequence[Fix], width: int, pen: Pen) -> Iterator[Row]:
    """Those that are enough first, cheapest first; the others by what they save."""
    yield rule_row(tr("one change"), width, pen)
    if not found:
        yield from wrapped(tr("no single change saves anything"), width)
        return
    if not any(fix.fits for fix in found):
        yield from wrapped(tr("no single change makes it fit; these save most"), width)
    unit = pen.numbers.unit
    columns = (
        Column(""),
        Column(tr("change")),
        Column(tr("saves {unit}", unit=unit), numeric=True),
        Column(tr("free"), numeric=True),
        Column(tr("cost")),
    )
    yield from sentence_table(columns, [_change(fix, pen) for fix in found], width)


def _change(fix: Fix, pen: Pen) -> tuple[Span, ...]:
    number, free = pen.numbers, fix.budget.headroom_bytes
    return (
        Span(pen.glyphs.ok if fix.fits else "", "ok"),
        Span(fix_name(fix)),
        Span(number.gib(fix.saved_bytes), "ok"),
        Span(number.signed(free, number.gib) if free < 0 else number.gib(free)),
        Span(cost_text(fix, pen), "dim"),
    )
