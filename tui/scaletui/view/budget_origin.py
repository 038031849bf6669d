"""What a part is bytes of, in a few characters: parameters x bytes / ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.budget import looked_at, origin
from scaletui.text.language import ntr, tr

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState
    from scaletui.state.origin import Origin
    from scaletui.view.pen import Pen

STATES: Final = ("weights", "gradients", "optimizer", "master_weights")


def of_what(part: str, state: BudgetState, pen: Pen) -> str:
    """The short formula of a part on the stage that is looked at; empty for a part of 0 bytes."""
    numbers, stage = origin(state), looked_at(state)
    if numbers is None or stage is None or not getattr(stage.parts, part):
        return ""
    if part in STATES:
        return _state(part, numbers, state, pen)
    times = f" {pen.glyphs.times} "
    if part == "activations":
        layers = ntr("{n} layer", "{n} layers", numbers.layers)
        return layers + (f"{times}{in_flight(numbers, pen)}" if numbers.in_flight != 1 else "")
    if part == "loss":
        return f"{pen.numbers.integer(numbers.tokens)}{times}{pen.numbers.integer(numbers.vocab)}"
    if part == "unsharded":
        return tr("gathered layers")
    return tr("temporaries")


def in_flight(numbers: Origin, pen: Pen) -> str:
    """Microbatches alive at once: whole, or with a digit where a rank's chunks are not all alive."""
    return pen.numbers.fixed(numbers.in_flight, 0 if numbers.in_flight.is_integer() else 1)


def per_parameter(part: str, numbers: Origin) -> int:
    """Bytes of a parameter in a part of the states; 0 where no one figure holds for all."""
    return {
        "weights": numbers.weight_bytes,
        "gradients": numbers.gradient_bytes,
        "optimizer": numbers.moment_bytes,
        "master_weights": numbers.master_bytes,
    }[part]


def is_shared(part: str, state: BudgetState) -> bool:
    """Whether the ranks of a data-parallel group share a part of the states between them."""
    assert state.answer is not None
    strategy = state.answer.scenario.plan.strategy
    return {
        "weights": strategy.shards_weights,
        "gradients": strategy.shards_gradients,
        "optimizer": strategy.shards_optimizer,
        "master_weights": strategy.shards_optimizer,
    }[part]


def elements_of(part: str, numbers: Origin) -> int:
    """Elements that a part of the states is about, before sharding: all, or those that are trained."""
    return numbers.parameters if part == "weights" else numbers.trainable


def share_of(part: str, numbers: Origin, state: BudgetState) -> int:
    """Elements of a part that one rank keeps; experts are shared by other ranks than everything else."""
    elements = elements_of(part, numbers)
    if not is_shared(part, state):
        return elements
    experts = min(numbers.experts, elements)
    return (elements - experts) // numbers.shard + experts // numbers.expert_shard


def has_experts(part: str, numbers: Origin, state: BudgetState) -> bool:
    """Whether one divisor does not do for all."""
    return is_shared(part, state) and bool(numbers.experts) and numbers.expert_shard != numbers.shard


def _state(part: str, numbers: Origin, state: BudgetState, pen: Pen) -> str:
    size, held = per_parameter(part, numbers), held_bytes(part, state)
    whole = share_of(part, numbers, state) * size
    if held < whole * COMPLETE:
        return tr("of {amount} so far", amount=pen.numbers.bytes(whole))
    if has_experts(part, numbers, state):
        return f"{pen.numbers.count(share_of(part, numbers, state))} {pen.glyphs.times} {size} B"
    count = pen.numbers.count(elements_of(part, numbers))
    text = f"{count} {pen.glyphs.times} {size} B" if size else count
    return f"{text} / {numbers.shard}" if is_shared(part, state) and numbers.shard > 1 else text


def held_bytes(part: str, state: BudgetState) -> int:
    """Bytes of a part on the stage that is looked at, at its peak."""
    stage = looked_at(state)
    assert stage is not None
    held: int = getattr(stage.parts, part)
    return held


COMPLETE: Final = 0.9
"""Below this part of its whole, a part of the states is still growing at the moment of the peak."""
