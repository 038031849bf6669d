"""The memory budget of a scenario as a page of text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.assumed import assumed
from scaletui.view.bars import Bar, bar_rows
from scaletui.view.cells import width_of
from scaletui.view.facts import microbatch_facts
from scaletui.view.row import Row, Span
from scaletui.view.table import GAP, Column, table_rows
from scaletui_engine.memory.budget import ByteRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.pen import Pen
    from scaletui_engine.memory.budget import MemoryBudget, StageBudget
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.tensors.count import ParameterCount

_AXES: Final = ("tp", "cp", "ep", "pp", "dp_replicate", "dp_shard")
_NARROW: Final = 16
"""Cells that a sentence gets however wide the figures before it are."""


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What the page is about."""

    scenario: Scenario
    budget: MemoryBudget
    params: ParameterCount


def report_rows(report: MemoryReport, width: int, pen: Pen) -> tuple[Row, ...]:
    """The page: verdict, a bar for each pipeline stage, the parts of the fullest one, what was assumed."""
    blank: Row = ()
    return (
        *_head(report, width, pen),
        blank,
        *_verdict(report.budget, pen),
        blank,
        *_bars(report.budget, width, pen),
        blank,
        *_parts(report.budget.peak, width, pen),
        blank,
        *_ranges(report.budget, width, pen),
        *_assumed(report, width, pen),
    )


def _line(text: str) -> Row:
    return (Span(text),)


def _head(report: MemoryReport, width: int, pen: Pen) -> list[Row]:
    scenario, plan = report.scenario, report.scenario.plan
    degrees = [(name, getattr(plan.axes, name)) for name in _AXES]
    mesh = " ".join(f"{name} {degree}" for name, degree in degrees if degree > 1)
    where = f"{scenario.cluster.gpus} {pen.glyphs.times} {scenario.cluster.gpu.id}"
    what = (
        _size(report.params, pen),
        plan.precision,
        plan.optimizer,
        tr("micro-batch {n}", n=plan.micro_batch),
        *microbatch_facts(scenario),
        tr("sequence {n}", n=pen.numbers.integer(plan.seq)),
    )
    return [
        *_facts((scenario.model.id, where, f"{plan.strategy} {mesh}".rstrip()), width),
        *_facts(what, width),
    ]


def _size(params: ParameterCount, pen: Pen) -> str:
    size = tr("{n} parameters", n=pen.numbers.count(params.total))
    if params.active == params.total:
        return size
    return size + tr(", {n} active", n=pen.numbers.count(params.active))


def _facts(facts: Sequence[str], width: int) -> list[Row]:
    """Side by side, on a new line where there is no room."""
    lines = [facts[0]]
    for fact in facts[1:]:
        longer = f"{lines[-1]}  {fact}"
        if width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(fact)
    return [_line(line) for line in lines]


def _verdict(budget: MemoryBudget, pen: Pen) -> list[Row]:
    number, peak = pen.numbers, budget.peak
    sizes = {
        "needed": number.gib(peak.needed_bytes),
        "capacity": number.bytes(budget.capacity_bytes),
        "rest": number.bytes(abs(budget.headroom_bytes)),
    }
    if budget.fits:
        verdict = tr("fits: at most {needed} of {capacity}, {rest} free", **sizes)
    elif budget.may_fit:
        sizes["likely"] = number.gib(peak.likely_bytes)
        verdict = tr("may not fit: {likely} to {needed} of {capacity}, over by up to {rest}", **sizes)
    else:
        verdict = tr("does not fit: up to {needed} of {capacity}, over by {rest}", **sizes)
    moment = explain(f"phase.{peak.phase}")
    return [_line(verdict), _line(tr("fullest: stage {stage}, at {moment}", stage=peak.stage, moment=moment))]


def _bars(budget: MemoryBudget, width: int, pen: Pen) -> tuple[Row, ...]:
    """One bar for each run of equal stages."""
    bars: list[Bar] = []
    for _, run in groupby(budget.stages, key=lambda stage: (stage.parts, stage.needed_bytes)):
        stages = list(run)
        first, last = stages[0].stage, stages[-1].stage
        name = tr("stage {n}", n=first) if first == last else tr("stages {a}-{b}", a=first, b=last)
        top = stages[0]
        parts = tuple((part, amount) for part, amount in top.parts.items() if amount)
        room = (("overhead", top.needed_bytes - top.peak_bytes),)
        bars.append(Bar(name, parts + room, pen.numbers.gib(top.needed_bytes)))
    return bar_rows(bars, budget.capacity_bytes, width, pen)


def _parts(stage: StageBudget, width: int, pen: Pen) -> tuple[Row, ...]:
    number, glyphs = pen.numbers, pen.glyphs
    columns = (
        Column(""),
        Column(tr("part")),
        Column(number.unit, numeric=True),
        Column("%", numeric=True),
    )
    lines = [
        (
            Span(glyphs.segment(part, 3)),
            Span(explain(part)),
            Span(number.gib(amount, 2)),
            Span(number.fixed(100 * amount / stage.peak_bytes)),
        )
        for part, amount in stage.parts.items()
        if amount
    ]
    beside = stage.needed_bytes - stage.peak_bytes
    sums = [
        (Span(""), Span(tr("allocated")), Span(number.gib(stage.peak_bytes, 2)), Span(number.fixed(100))),
        (Span(glyphs.segment("overhead", 3)), Span(tr("beside it")), Span(number.gib(beside, 2)), Span("")),
        (Span(""), Span(tr("at most")), Span(number.gib(stage.needed_bytes, 2)), Span("")),
    ]
    return table_rows(columns, [*lines, *sums], width)


def _ranges(budget: MemoryBudget, width: int, pen: Pen) -> tuple[Row, ...]:
    """What the figures beside the allocated bytes are."""
    number, stage = pen.numbers, budget.peak
    nominal = tr("nominal: no source says what the driver reports") if budget.capacity_is_nominal else ""
    held, outside = stage.reserved, stage.outside
    driver = ByteRange(held.low + outside.low, held.high + outside.high, "")
    spans = [
        (tr("reserved"), _from_to(held, pen), explain(held.why)),
        (tr("outside"), _from_to(outside, pen), explain(outside.why)),
        (tr("driver"), _from_to(driver, pen), tr("both together, as nvidia-smi shows them")),
    ]
    names = max(width_of(name) for name in (*(name for name, *_ in spans), tr("capacity")))
    room = width - names - max(width_of(amounts) for _, amounts, _ in spans) - 2 * GAP
    lines = [line for span in spans for line in _range(span, room)]
    lines.append((Span(tr("capacity")), Span(number.gib(budget.capacity_bytes, 2)), Span(nominal)))
    columns = (Column(""), Column(number.unit, numeric=True), Column(""))
    return table_rows(columns, lines, width)


def _assumed(report: MemoryReport, width: int, pen: Pen) -> list[Row]:
    said = [tr("assumed: {what}", what=text) for text in assumed(report.scenario, report.budget, pen)]
    return [_line(line) for text in said for line in wrap(text, width, subsequent_indent="  ")]


def _from_to(span: ByteRange, pen: Pen) -> str:
    return tr("{low} to {high}", low=pen.numbers.gib(span.low, 2), high=pen.numbers.gib(span.high, 2))


def _range(span: tuple[str, str, str], room: int) -> list[tuple[Span, ...]]:
    """A range's name, amounts and sentence, as many lines as the sentence takes in so many cells."""
    name, amounts, why = span
    first, *more = wrap(why, max(room, _NARROW))
    return [
        (Span(name), Span(amounts), Span(first)),
        *((Span(""), Span(""), Span(line)) for line in more),
    ]
