"""What simulations found, as a page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.explain import SENTENCES, explain
from scaletui.text.language import N_, ntr, tr
from scaletui.view.row import Row, Span
from scaletui.view.table import Column, table_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.pen import Pen
    from scaletui_engine.collectives.step import Procedure, Step
    from scaletui_engine.numerics.outcome import Held, Outcome

NAMES: Final = {
    "dp": N_("mean over uneven shards"),
    "ddp": N_("gradient buckets over a ring"),
    "accumulation": N_("gradient accumulation"),
    "column-row": N_("a column and a row matrix"),
    "tp": N_("a block, tensor parallel"),
    "sp": N_("a block, sequence parallel"),
    "pp": N_("stages and microbatches"),
    "zero1": N_("ZeRO-1 with Adam"),
    "zero2": N_("ZeRO-2 with Adam"),
    "zero3": N_("ZeRO-3 with Adam"),
    "fsdp": N_("FSDP2 with Adam, layer by layer"),
    "cp": N_("ring attention"),
    "ep": N_("tokens to experts and back"),
    "formats": N_("every number format, piece by piece"),
    "loss-scaling": N_("loss scaling, one rank overflows"),
}
"""Name of a simulation -> what runs."""
_SHOWN: Final = 8
"""Messages of a step that are listed."""


def simulation_rows(outcomes: Sequence[Outcome], width: int, pen: Pen) -> tuple[Row, ...]:
    """A line for each simulation; the parts that ranks held where there is only one or a few."""
    columns = (
        Column(tr("simulation")),
        Column(tr("what runs"), rank=1, shrinks=True),
        Column(tr("ranks"), numeric=True),
        Column(tr("compared"), numeric=True, rank=2),
        Column(tr("largest error"), numeric=True),
        Column(tr("sent"), numeric=True, rank=3),
        Column(tr("verdict")),
    )
    lines = [_cells(outcome, pen) for outcome in outcomes]
    return (*table_rows(columns, lines, width, pen.glyphs.ellipsis), (), *_held(outcomes, width, pen))


def _cells(outcome: Outcome, pen: Pen) -> tuple[Span, ...]:
    return (
        Span(outcome.name),
        Span(tr(NAMES[outcome.name])),
        Span(str(outcome.ranks)),
        Span(pen.numbers.integer(outcome.compared)),
        Span(f"{outcome.error:.1e}"),
        Span(pen.numbers.integer(outcome.sent)),
        Span(tr("equal") if outcome.exact else tr("differs")),
    )


def _held(outcomes: Sequence[Outcome], width: int, pen: Pen) -> tuple[Row, ...]:
    pairs = [(outcome, held) for outcome in outcomes for held in outcome.held]
    if not pairs:
        return ()
    columns = (
        Column(tr("simulation")),
        Column(tr("held by a rank")),
        Column(tr("counted"), numeric=True),
        Column(tr("predicted"), numeric=True),
        Column(tr("memory engine"), numeric=True),
    )
    lines = [
        (
            Span(outcome.name),
            Span(_part(held)),
            Span(pen.numbers.integer(held.counted)),
            Span(pen.numbers.integer(held.predicted)),
            Span("" if held.memory is None else pen.numbers.integer(held.memory)),
        )
        for outcome, held in pairs
    ]
    return table_rows(columns, lines, width, pen.glyphs.ellipsis)


def _part(held: Held) -> str:
    if held.part in SENTENCES:
        return explain(held.part)
    if held.part.startswith("weights of stage "):
        return tr("weights of stage {stage}", stage=held.part.rsplit(" ", 1)[1])
    return tr("keys and values")


def procedure_rows(procedure: Procedure, width: int) -> tuple[Row, ...]:
    """The steps of a collective: who sends which block to whom; + where the receiver adds it."""
    most = max(procedure.sent(rank) for rank in range(procedure.ranks))
    steps = ntr("{n} step", "{n} steps", len(procedure.steps))
    head = tr(
        "{steps}; a rank sends at most {most} of {all} elements",
        steps=steps,
        most=most,
        all=procedure.elements,
    )
    rows = [(Span(f"{procedure.name}, {head}"),), ()]
    rows += [(Span(_step(index, each)[:width]),) for index, each in enumerate(procedure.steps, 1)]
    return tuple(rows)


def _step(index: int, step: Step) -> str:
    shown = [
        f"{t.source}>{t.target} {'+' if t.add else ''}[{t.start}:{t.stop}]" for t in step.transfers[:_SHOWN]
    ]
    more = len(step.transfers) - _SHOWN
    return f"{index:>3}  " + "  ".join(shown) + (f"  +{more}" if more > 0 else "")
