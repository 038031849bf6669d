"""The words of a step player: the answer, and what happens in a frame."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, ntr, tr
from scaletui.view.cells import width_of
from scaletui.view.row import Row, Span, fit
from scaletui_engine.sharding.notes import never_reduces
from scaletui_engine.sharding.step_frames import Act, Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.step_play import Sight
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.step_frames import PlayedStep, StepFrame

_ACTS: Final = {
    Act.START: N_("between two steps"), Act.GATHER: N_("gather {unit}"), Act.FORWARD: N_("forward {unit}"),
    Act.BACKWARD: N_("backward {unit}"), Act.FREE: N_("free {unit}"), Act.KEEP: N_("sum up {unit}"),
    Act.REDUCE: N_("reduce {unit}"), Act.SKIP: N_("equal microbatches"), Act.STEP: N_("optimizer updates"),
    Act.PUBLISH: N_("publish weights"),
}  # fmt: skip
"""Act -> what it is called."""


def frame_name(step: PlayedStep, frame: StepFrame) -> str:
    """ "gather layers.12"."""
    return tr(_ACTS[frame.act]).format(unit=unit_name(step, frame))


def unit_name(step: PlayedStep, frame: StepFrame) -> str:
    """The unit that moves; embedding and head are one where they move together."""
    if frame.unit is None:
        return ""
    ends = [place for place, unit in enumerate(step.units) if not unit.is_layer]
    together = frame.act in (Act.GATHER, Act.FREE, Act.REDUCE, Act.KEEP) and frame.unit in ends
    states = {(frame.weights[place], frame.gradients[place]) for place in ends}
    if together and step.strategy.shards_weights and len(ends) > 1 and len(states) == 1:
        return tr("embedding and head")
    return step.units[frame.unit].name


def answer_row(sight: Sight, width: int, pen: Pen) -> Row:
    """Strategy, moment, held against the peak, sent; the longest form that fits."""
    step, frame, number = sight.step, sight.frame, pen.numbers
    ranks = data_ranks(sight)
    name = ntr("{strategy} on {n} rank", "{strategy} on {n} ranks", ranks, strategy=step.strategy.value)
    now = frame_name(step, frame)
    peak = number.gib(step.frames[step.peak].total)
    held = tr("{held} held, peak {peak}", held=number.bytes(frame.total), peak=peak)
    total = number.gib(step.frames[-1].sent)
    sent = tr("sent {sent} of {total}", sent=number.gib(frame.sent), total=total)
    forms = (
        f" {name}: {now}   {held}, {sent}", f" {step.strategy.value}: {now}   {held}, {sent}",
        f" {name}: {now}   {held}", f" {now}   {held}", f" {now}",
    )  # fmt: skip
    text = next((form for form in forms if width_of(form) <= width), forms[-1])
    return fit((Span(text, "title"),), width)


def units_title(sight: Sight) -> str:
    """Whose units they are: the stage and its layers where there are several."""
    takes, count = sight.takes, len(sight.step.units)
    if takes.scenario.plan.axes.pp == 1:
        return tr("units of one rank, {n} in all", n=count)
    layers = [int(unit.name.rpartition(".")[2]) for unit in sight.step.units if unit.is_layer]
    return tr(
        "rank {rank}: stage {stage}, layers {layers}",
        rank=takes.seat.within(takes.scenario), stage=sight.step.stage_rank, layers=stretches(layers),
    )  # fmt: skip


def stretches(numbers: Sequence[int]) -> str:
    """ "0-3, 8-11": a range where numbers follow each other."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found)


def data_ranks(sight: Sight) -> int:
    """Ranks that share the data, and what is cut."""
    axes = sight.takes.scenario.plan.axes
    return axes.dp * axes.cp


def word_rows(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """What happens, in two rows."""
    lines = textwrap.wrap(_sentence(sight, pen), max(width - 2, 8))[:2]
    rows = [fit((Span(f" {line}"),), width) for line in lines]
    return (*rows, *[fit((), width)] * (2 - len(rows)))


def _sentence(sight: Sight, pen: Pen) -> str:
    frame, step, number = sight.frame, sight.step, pen.numbers
    name = unit_name(step, frame)
    before = step.frames[max(sight.index - 1, 0)]
    change = frame.total - before.total
    sent = number.size(frame.sent - before.sent)
    size = number.signed(change, number.size) if change else tr("no change")
    if frame.act is Act.GATHER and sight.frame.weights[frame.unit or 0] == Weight.GATHERING:
        return tr(
            "all-gather ahead of time: slices of {unit} arrive while another unit runs ({sent} sent, {size})",
            unit=name, sent=sent, size=size,
        )  # fmt: skip
    return tr(_SENTENCES[_key(sight)]).format(
        unit=name, sent=sent, size=size, n=data_ranks(sight), total=step.microbatches
    )


def _key(sight: Sight) -> str:
    """Which sentence: some depend on what is cut."""
    frame, strategy = sight.frame, sight.step.strategy
    if frame.act is Act.START:
        begins = "start" if data_ranks(sight) > 1 else "start_alone"
        return "end" if sight.index else begins
    if strategy.shards_weights and sight.step.ranks == 1 and frame.act in _ALONE:
        return _uncut(sight)
    if frame.act is Act.BACKWARD and strategy.shards_weights:
        return "backward_whole"
    if frame.act is Act.FREE and frame.gradients[frame.unit or 0]:
        return "free_backward"
    if frame.act is Act.REDUCE:
        return "scatter" if strategy.shards_gradients else "all_reduce"
    if frame.act is Act.STEP:
        return "step_slice" if strategy.shards_optimizer else "step"
    return frame.act.value


def _uncut(sight: Sight) -> str:
    """Where the ranks that share a slice are one: nothing is gathered, and replicas alone are summed."""
    if sight.frame.act is not Act.REDUCE:
        return "gather_alone" if sight.frame.act is Act.GATHER else "step"
    own = sight.takes.scenario.plan
    if sight.step.strategy is own.strategy and never_reduces(own):
        return "apart"
    return "all_reduce" if data_ranks(sight) > 1 else "reduce_alone"


_ALONE: Final = (Act.GATHER, Act.REDUCE, Act.STEP)
_SENTENCES: Final = {
    "start": N_("between two steps: a rank holds its states and no more; {n} ranks share the batch"),
    "start_alone": N_("between two steps: the rank holds its states and no more"),
    "gather_alone": N_("{unit} is whole on the rank: a copy in the type of the products is made ({size})"),
    "apart": N_("FSDP1 reduces {unit} over one rank: each replica keeps a gradient of its own ({size})"),
    "reduce_alone": N_("one rank: the gradient of {unit} is the whole sum ({size})"),
    "end": N_("the step is over: gradients are gone, the next step begins with what is left"),
    "gather": N_("all-gather: {unit} becomes whole on every rank from all slices ({sent} sent, {size})"),
    "forward": N_("forward pass of {unit}, on each rank's own part of the batch ({size})"),
    "backward": N_("backward pass of {unit}: the gradient of this rank's part of the batch ({size})"),
    "backward_whole": N_("backward pass of {unit}: weights are whole, its gradient comes to be ({size})"),
    "free": N_("{unit} has run: every rank drops all but its own slice ({size})"),
    "free_backward": N_("the whole weights of {unit} go; its whole gradient is still there ({size})"),
    "keep": N_("the gradient of {unit} is added to those of earlier microbatches; nothing is sent ({size})"),
    "scatter": N_("reduce-scatter: each rank gets its slice of the sum of {unit} ({sent} sent, {size})"),
    "all_reduce": N_("the gradients of {unit} are summed over all ranks ({sent} sent, {size})"),
    "skip": N_("microbatches up to the last are the same as this one, {total} in all ({sent} sent)"),
    "step": N_("the optimizer updates all weights; every rank does the same work ({size})"),
    "step_slice": N_("the optimizer updates the rank's own slice, an n-th of the work, n = {n} ({size})"),
    "publish": N_("all-gather of what was updated: every rank has all new weights again ({sent} sent)"),
}  # fmt: skip
