"""The third column: one part explained, its formula line by line with the scenario's numbers."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state.budget import chosen_stage, looked_at, origin
from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.view.budget_origin import (
    COMPLETE,
    STATES,
    elements_of,
    has_experts,
    held_bytes,
    in_flight,
    is_shared,
    per_parameter,
    share_of,
)
from scaletui.view.budget_terms import term_rows
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import pair_row, rule_row, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.budget import BudgetState
    from scaletui.state.origin import Origin
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

_WHAT: Final = MappingProxyType({
    "weights": N_("What the forward pass multiplies with, as it is kept between steps."),
    "gradients": N_("One for each trained parameter, kept until the optimizer's step."),
    "optimizer": N_("The optimizer's moments; Adam keeps two for each trained parameter."),
    "master_weights": N_("An fp32 copy that the optimizer updates, where the weights have 16 bits."),
    "activations": N_(
        "What the forward pass keeps for the backward pass: inputs of products, norms and attention. They "
        "grow with micro-batch and sequence, and no data parallelism shards them."
    ),
    "loss": N_("The logits, one for each token and vocabulary entry, with the copies that the loss makes."),
    "unsharded": N_(
        "Weights gathered from the other ranks while a layer needs them, and whole gradients before they "
        "are reduced."
    ),
    "buffers": N_("Temporaries of the framework: gradient buckets, or the optimizer's working copies."),
})  # fmt: skip
WIDE: Final = 36
"""Cells from which names are spelled out."""
_GROWS: Final = N_("Counted tensor by tensor for this layer: no single factor gives it.")


def explain_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds."""
    numbers, stage = origin(state), looked_at(state)
    title = tr("{part} on stage {stage}", part=explain(state.part), stage=chosen_stage(state))
    rows = [rule_row(title, box.width, pen)]
    if numbers is not None and stage is not None:
        amount = getattr(stage.parts, state.part)
        rows += [
            *wrapped(tr(_WHAT[state.part]), box.width),
            fit((), box.width),
            *_formula(state, numbers, box.width, pen),
            pair_row(Span(tr("counted")), Span(pen.numbers.bytes(amount, 2), "accent"), box.width, pen),
            pair_row(tr("at"), explain(f"phase.{stage.phase}"), box.width, pen),
            fit((), box.width),
            *term_rows(state, box.width, pen),
        ]
    return tuple(rows[: box.height])


def _formula(state: BudgetState, numbers: Origin, width: int, pen: Pen) -> Iterator[Row]:
    if state.part in STATES:
        yield from _states(state, numbers, width, pen)
    elif state.part == "activations":
        yield from _activations(state, numbers, width, pen)
    elif state.part == "loss":
        yield from _loss(numbers, width, pen)
    elif state.part == "unsharded":
        yield from _unsharded(numbers, width, pen)


def _states(state: BudgetState, numbers: Origin, width: int, pen: Pen) -> Iterator[Row]:
    assert state.answer is not None
    plan = state.answer.scenario.plan
    size, elements = per_parameter(state.part, numbers), elements_of(state.part, numbers)
    count = pen.numbers.integer(elements) if width >= WIDE else pen.numbers.count(elements)
    name = tr("parameters") if elements == numbers.parameters else tr("trained parameters")
    yield pair_row(name, count, width, pen)
    if not size:
        yield from wrapped(tr(_GROWS), width, "dim")
        return
    recipe = tr("bytes of each, {recipe}", recipe=plan.precision) if width >= WIDE else tr("bytes of each")
    yield pair_row(f"{pen.glyphs.times} {recipe}", f"{size} B", width, pen)
    yield from _sharing(state, numbers, width, pen)
    yield from _against(share_of(state.part, numbers, state) * size, state, width, pen)


def _sharing(state: BudgetState, numbers: Origin, width: int, pen: Pen) -> Iterator[Row]:
    """By how many ranks the parameters, and the experts among them, are divided."""
    assert state.answer is not None
    strategy = state.answer.scenario.plan.strategy
    if is_shared(state.part, state):
        sharers = tr("ranks that share them, {strategy}", strategy=strategy)
        yield pair_row(f"/ {sharers if width >= WIDE else tr('ranks')}", str(numbers.shard), width, pen)
    if has_experts(state.part, numbers, state):
        experts = pen.numbers.count(numbers.experts)
        label = tr("of them experts, / {ranks}", ranks=numbers.expert_shard)
        yield pair_row(label, experts, width, pen)


def _against(product: int, state: BudgetState, width: int, pen: Pen) -> Iterator[Row]:
    """What the formula gives, and why the count may differ."""
    amount = held_bytes(state.part, state)
    yield pair_row("=", pen.numbers.bytes(product, 2), width, pen)
    if amount > product:
        yield pair_row(tr("+ padding and copies"), pen.numbers.size(amount - product), width, pen)
    elif amount < product * COMPLETE:
        yield from wrapped(tr("At this moment only a part of it exists."), width, "dim")


def _activations(state: BudgetState, numbers: Origin, width: int, pen: Pen) -> Iterator[Row]:
    assert state.answer is not None
    plan = state.answer.scenario.plan
    yield pair_row(tr("tokens of a microbatch"), pen.numbers.integer(numbers.tokens), width, pen)
    yield pair_row(tr("layers of this stage"), str(numbers.layers), width, pen)
    yield pair_row(tr("microbatches alive at once"), in_flight(numbers, pen), width, pen)
    yield pair_row(tr("recompute"), str(plan.recompute), width, pen)
    yield from wrapped(tr(_GROWS), width, "dim")


def _loss(numbers: Origin, width: int, pen: Pen) -> Iterator[Row]:
    if not numbers.has_head:
        yield from wrapped(tr("This stage computes no loss: the last one does."), width, "dim")
        return
    yield pair_row(tr("tokens of a microbatch"), pen.numbers.integer(numbers.tokens), width, pen)
    yield pair_row(f"{pen.glyphs.times} {tr('vocabulary')}", pen.numbers.integer(numbers.vocab), width, pen)
    yield pair_row(tr("kernel"), numbers.loss_kernel, width, pen)


def _unsharded(numbers: Origin, width: int, pen: Pen) -> Iterator[Row]:
    if numbers.shard == 1:
        yield from wrapped(tr("Nothing is sharded, so nothing is gathered."), width, "dim")
        return
    layer, ends = pen.numbers.count(numbers.unit_parameters), pen.numbers.count(numbers.ends_parameters)
    yield pair_row(tr("parameters of the largest layer"), layer, width, pen)
    yield pair_row(tr("parameters outside the layers"), ends, width, pen)
    yield pair_row(tr("bytes while they compute"), f"{numbers.compute_bytes} B", width, pen)
