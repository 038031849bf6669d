"""Host memory of one node: what is offloaded there, and what reading and writing a checkpoint take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui.view.memory_report_table import sentence_table
from scaletui.view.row import Row, Span
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.memory.host import HostBudget, LoadingNeeds
    from scaletui_engine.memory.saving import SavingNeeds

OBSERVED: Final = "host.states_observed"
_SEEN: Final = N_("as seen in a job: about 28 bytes where the paper counts 16 (DeepSpeed issue 7693)")


@dataclass(frozen=True, slots=True)
class HostNeeds:
    """What the engine says of a node's host memory."""

    budget: HostBudget
    loading: LoadingNeeds
    saving: SavingNeeds
    is_offloaded: bool
    """Whether training itself keeps anything on the host."""


def host_rows(needs: HostNeeds, width: int, pen: Pen) -> Iterator[Row]:
    """What training keeps there, if anything."""
    yield rule_row(tr("host memory of a node, {unit}", unit=pen.numbers.unit), width, pen)
    if not needs.is_offloaded:
        yield from wrapped(tr("Nothing is offloaded."), width)
        return
    yield from _table(_training(needs.budget, pen), width)
    yield from wrapped(_verdict(needs.budget, pen), width)


def checkpoint_rows(needs: HostNeeds, width: int, pen: Pen) -> Iterator[Row]:
    """What loading and saving take, each form of it."""
    loading, saving, gib = needs.loading, needs.saving, pen.numbers.gib
    yield rule_row(tr("a checkpoint, {unit}", unit=pen.numbers.unit), width, pen)
    lines = (
        (tr("load, every rank"), gib(loading.every_rank, 2), tr("host: each rank reads the whole model")),
        (tr("load, one rank"), gib(loading.first_rank, 2), tr("host: one reads and sends to the others")),
        (tr("load, sharded"), gib(loading.sharded, 2), tr("host: each rank reads its own part")),
        (
            tr("save, whole on GPU"),
            gib(saving.on_gpu, 2),
            tr("GPU: every weight of its stages, on each rank"),
        ),
        (tr("save, through host"), gib(saving.to_host, 2), tr("GPU: one weight at a time")),
        (tr("save, collected"), gib(saving.collected, 2), tr("host: one rank keeps its stages whole")),
        (tr("save, sharded"), gib(saving.staged, 2), tr("host: each rank copies its own part")),
        (tr("beside, between steps"), gib(saving.between_steps, 2), tr("GPU: states that are there anyway")),
    )
    yield from _table(lines, width)


def _training(budget: HostBudget, pen: Pen) -> Iterator[tuple[str, str, str]]:
    gib, states = pen.numbers.gib, budget.states
    yield tr("states, ideal"), gib(states.low, 2), tr("weights, gradients, optimizer that are offloaded")
    if states.why == OBSERVED:
        yield tr("states, observed"), gib(states.high, 2), tr(_SEEN)
    if budget.pinned:
        yield tr("pinned"), gib(budget.pinned, 2), tr("staging buffers that are not paged")
    if budget.activations:
        yield tr("activations"), gib(budget.activations, 2), tr("of the microbatches in flight")
    if budget.nvme:
        yield "NVMe", gib(budget.nvme, 2), tr("on the node's drives, not in its memory")
    yield tr("all, ideal"), gib(budget.low, 2), ""
    if budget.high != budget.low:
        yield tr("all, observed"), gib(budget.high, 2), ""


def _verdict(budget: HostBudget, pen: Pen) -> str:
    if budget.capacity is None:
        return tr("The scenario does not say how much host memory a node has.")
    capacity, rest = pen.numbers.bytes(budget.capacity), pen.numbers.bytes(abs(budget.capacity - budget.high))
    if budget.fits:
        return tr("fits the node's {capacity}, {rest} free", capacity=capacity, rest=rest)
    return tr("does not fit the node's {capacity}, over by {rest}", capacity=capacity, rest=rest)


def _table(lines: Iterable[tuple[str, str, str]], width: int) -> tuple[Row, ...]:
    columns = (Column(""), Column("", numeric=True), Column(""))
    return sentence_table(columns, [tuple(map(Span, line)) for line in lines], width)
