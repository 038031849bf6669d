"""The third column of the schedule screen: what the schedule does, and what the figures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.schedule import Messages
from scaletui.text.language import N_, tr
from scaletui.view.row import Row, fit
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.schedule_names import schedule_sentence

if TYPE_CHECKING:
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen


_SENT: Final = {
    Messages.ASYNC: N_(
        "Times are asynchronous: a message leaves when its action ends, and the sender goes on at once."
    ),
    Messages.BLOCKING: N_("Sends block: both ranks meet, and wait for each other and for the message."),
    Messages.IN_ORDER: N_(
        "A rank's messages go in the order of its row: a receive that waits holds up the sends behind it."
    ),
    Messages.LATE_LAUNCH: N_(
        "A send starts after the next action of its rank, where that can run at once: messages come late."
    ),
}


def explain_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Paragraphs, as many as the box holds."""
    blank = fit((), box.width)
    rows: list[Row] = []
    for run in sight.picture.runs:
        rows += [rule_row(run.name, box.width, pen), *wrapped(schedule_sentence(run.name), box.width), blank]
    rows.append(rule_row(tr("how to read it"), box.width, pen))
    for text in _texts(sight):
        rows += [*wrapped(text, box.width, "dim"), blank]
    return tuple(rows[: box.height])


def _texts(sight: Sight) -> tuple[str, ...]:
    texts = [
        tr("A divides idle time by what a rank computes, B by the makespan. C counts a rank's own span "
           "alone: ranks that start and end in step lose nothing. D is each rank's idle time."),
        tr("The strip beneath a rank counts the microbatches whose activations it holds; "
           "in front stand its peak and, after the stroke, how many fit."),
        tr(_SENT[sight.picture.question.messages]),
    ]  # fmt: skip
    if sight.picture.question.is_example:
        texts.insert(0, tr("This plan has no pipeline (pp 1), so an example stands in: "
                           "4 ranks, 8 microbatches. Set pp in the plan to see yours."))  # fmt: skip
    return tuple(texts)
