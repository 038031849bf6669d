"""What `scaletui schedule` says about one schedule, in a screenful of plain text."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.row import Row, Span
from scaletui.view.schedule_names import runtime_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scaletui.text.numbers import Numbers
    from scaletui.view.pen import Pen
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.result import Result

MOSTLY_IDLE: Final = 0.5
"""Bubble B from which a report warns."""
MANY: Final = 16
"""Ranks whose numbers are listed one by one."""
_SMALL: Final = 5e-4
_LARGE: Final = 1e15
"""Between them a number is written out: below, three digits show nothing; above, the last ones are noise."""


def headline(result: Result, numbers: Numbers) -> str:
    """Name, shape, makespan and bubble in one line."""
    schedule = result.timeline.schedule
    what = tr(
        "{name}: ranks {ranks}, microbatches {microbatches}, chunks a rank {chunks}",
        name=schedule.name,
        ranks=schedule.ranks,
        microbatches=schedule.shape.microbatches,
        chunks=schedule.shape.chunks,
    )
    takes = tr(
        "makespan {makespan}, bubble {percent} (B)",
        makespan=time_text(result, result.timeline.makespan, numbers),
        percent=numbers.percent(result.bubble.over_makespan, 1),
    )
    return f"{what}; {takes}"


def report_rows(result: Result, remarks: Iterable[str], width: int, pen: Pen) -> Iterator[Row]:
    """Every figure with the name of its definition."""
    numbers = pen.numbers
    for line in (*_lines(result, numbers), *remarks, *_warnings(result, numbers)):
        for piece in wrap(line, width, subsequent_indent="  ") or [""]:
            yield (Span(piece),)


def _lines(result: Result, numbers: Numbers) -> Iterator[str]:
    timeline, bubble = result.timeline, result.bubble
    yield headline(result, numbers)
    yield tr(
        "longest span {span}  ideal {ideal}",
        span=time_text(result, float(timeline.spans.max()), numbers),
        ideal=time_text(result, bubble.ideal, numbers),
    )
    yield tr("bubble A, over ideal time: {percent}", percent=numbers.percent(bubble.over_ideal, 1))
    yield tr("bubble B, over makespan: {percent}", percent=numbers.percent(bubble.over_makespan, 1))
    yield tr(
        "bubble C, zero-bubble paper's, over the longest span: {percent}",
        percent=numbers.percent(bubble.zero_bubble, 1),
    )
    yield tr("bubble D, idle by rank: {values}", values=_values(bubble.per_rank, numbers))
    yield tr(
        "peak of live chunks by rank, freed by W or B: {values}",
        values=_values(result.activations.peak.tolist(), numbers),
    )
    yield tr(
        "the same, freed by I or B: {values}", values=_values(result.early_activations.peak.tolist(), numbers)
    )
    if timeline.times.estimated:
        peak = max(result.memory.peak.tolist())
        yield tr("peak of activations: {size}", size=numbers.bytes(round(peak)))


def _warnings(result: Result, numbers: Numbers) -> Iterator[str]:
    schedule, bubble = result.timeline.schedule, result.bubble
    if result.timeline.times.estimated:
        yield tr(
            "times are estimates: products and attention at 60 % of the GPU's peak, messages at link rate"
        )
    if bubble.over_makespan >= MOSTLY_IDLE:
        idle = numbers.percent(bubble.over_makespan)
        yield tr("warning: ranks idle {percent} of the time; more microbatches help", percent=idle)
    if schedule.placement.replicas > 1:
        yield tr("the pipeline holds {n} copies of the weights", n=schedule.placement.replicas)
        yield runtime_note()
    if schedule.weight_versions:
        yield ntr(
            "rank 0 keeps {n} version of its weights",
            "rank 0 keeps {n} versions of its weights",
            schedule.weight_versions[0],
        )


def step_text(step: OptimizerStep, result: Result, numbers: Numbers) -> str:
    """When ranks update, and how often a training step comes."""
    start, end, period = (
        time_text(result, float(value), numbers) for value in (step.start.min(), step.end.max(), step.period)
    )
    return tr(
        "optimizer step: from {start} to {end}; a training step every {period}",
        start=start,
        end=end,
        period=period,
    )


def memory_text(result: Result, numbers: Numbers) -> str:
    """The peak of every rank in the unit in which memory was given."""
    return tr(
        "peak of the memory that was given, by rank: {values}",
        values=_values(result.memory.peak.tolist(), numbers),
    )


def weights_text(held: Sequence[float], numbers: Numbers) -> str:
    """Bytes of all versions of the weights that ranks hold."""
    low, high = (numbers.size(round(value)) for value in (min(held), max(held)))
    sizes = low if low == high else tr("{low} to {high}", low=low, high=high)
    return tr("weights by rank, all copies and versions: {sizes}", sizes=sizes)


def time_text(result: Result, value: float, numbers: Numbers) -> str:
    """Seconds in their unit, or the user's own unit as t."""
    return numbers.seconds(value) if result.timeline.times.estimated else f"{plain(value, numbers)} t"


def plain(value: float, numbers: Numbers) -> str:
    """Up to three digits after the point, none where none are needed; powers of ten for the far away."""
    if value and not _SMALL <= abs(value) < _LARGE:
        return f"{value:.6g}".replace(".", numbers.decimal)
    text = numbers.fixed(value, 3)
    return text.rstrip("0").rstrip(numbers.decimal) if numbers.decimal in text else text


def _values(values: Iterable[float], numbers: Numbers) -> str:
    """One number a rank; the range where there are many, one where all are the same."""
    shown = list(values)
    if len(shown) > MANY:
        return tr("{low} to {high}", low=plain(min(shown), numbers), high=plain(max(shown), numbers))
    return " ".join(plain(value, numbers) for value in shown)
