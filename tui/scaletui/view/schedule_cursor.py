"""What stands under the cursor, in words: an action with what it hangs on, or why the rank idles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.schedule_times import plain, time_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui.state.schedule_near import Named, Near
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen

_NAMES = {"F": "forward", "I": "input_grad", "W": "weight_grad", "B": "backward"}


def cursor_lines(sight: Sight, pen: Pen) -> tuple[str, ...]:
    """Sentences, the most telling first."""
    near = sight.near()
    if not near.actions:
        return tuple(filter(None, (f"r{near.rank} {_idle(near, sight, pen)}", _weights(near, sight, pen))))
    about = (_action(near, sight, pen), _around(near, sight), _memory(near, sight, pen))
    return tuple(filter(None, (*about, _weights(near, sight, pen))))


def named_text(named: Named, sight: Sight) -> str:
    """ "r2 B2", and its stage where a rank has several."""
    part = "" if named.slice < 0 else chr(ord("a") + named.slice)
    stages = len(sight.own.chart.stages_of(named.rank))
    stage = f" s{named.stage}" if stages > 1 else ""
    return f"r{named.rank} {named.letter}{named.microbatch}{part}{stage}"


def _action(near: Near, sight: Sight, pen: Pen) -> str:
    unit = sight.picture.question.unit
    names = " + ".join(explain(_NAMES[named.letter]) for named in near.actions)
    title = f"{' + '.join(named_text(named, sight) for named in near.actions)} ({names})"
    start, end = (time_text(time, unit, pen) for time in (near.start, near.end))
    text = tr("{action}: {start} to {end}", action=title, start=start, end=end)
    if near.waited_for is None:
        return text
    return f"{text}, {tr('waited for {action}', action=named_text(near.waited_for, sight))}"


def _around(near: Near, sight: Sight) -> str:
    parts = []
    if near.needs:
        parts.append(tr("needs {actions}", actions=_list(near.needs, sight)))
    if near.feeds:
        parts.append(tr("feeds {actions}", actions=_list(near.feeds, sight)))
    return "   ".join(parts)


def _list(actions: Iterable[Named], sight: Sight) -> str:
    return ", ".join(named_text(named, sight) for named in actions)


def _memory(near: Near, sight: Sight, pen: Pen) -> str:
    """What the rank holds, and what the action keeps or frees of it."""
    run, rank = sight.own, near.rank
    during = float(run.chart.result.activations.during[near.actions[0].index]) / run.chunks
    each = run.microbatch_bytes(rank)
    holds = tr("the rank holds {count} microbatches", count=plain(during, pen))
    if during == 1:
        holds = tr("the rank holds 1 microbatch")
    if not each:
        return holds
    holds += f" ({pen.numbers.size(round(during * each))})"
    sizes = [round(run.held_bytes[named.stage]) for named in near.actions if named.letter != "I"]
    if len(sizes) != 1:
        return holds
    size = pen.numbers.size(sizes[0])
    letter = near.actions[0].letter
    return f"{tr('keeps {size}', size=size) if letter == 'F' else tr('frees {size}', size=size)}; {holds}"


def _weights(near: Near, sight: Sight, pen: Pen) -> str:
    """What the rank holds of weights: both of DualPipe's stages, every version of PipeDream's."""
    run = sight.own
    if not run.weights:
        return ""
    size = pen.numbers.size(round(run.weights[near.rank]))
    versions = run.chart.timeline.schedule.weight_versions
    if versions and versions[near.rank] > 1:
        return tr("weights of the rank: {size}, {n} versions", size=size, n=versions[near.rank])
    if run.chart.timeline.schedule.placement.replicas > 1:
        return tr("weights of the rank: {size}, of both directions", size=size)
    return tr("weights of the rank: {size}", size=size)


def _idle(near: Near, sight: Sight, pen: Pen) -> str:
    unit = sight.picture.question.unit
    start, end = (time_text(time, unit, pen) for time in (near.start, near.end))
    if near.reason == "update":
        return tr("updates its weights from {start} to {end}", start=start, end=end)
    if near.waited_for is None:
        return tr("idles from {start} on: the pipeline drains, nothing is left for it", start=start)
    action, ready = named_text(near.waited_for, sight), time_text(near.ready, unit, pen)
    if near.reason == "fill":
        return tr("idles until {end}: the pipeline fills; {action} ends at {ready}",
                  end=end, action=action, ready=ready)  # fmt: skip
    return tr("idles from {start} to {end}: waits for {action}, which ends at {ready}",
              start=start, end=end, action=action, ready=ready)  # fmt: skip
