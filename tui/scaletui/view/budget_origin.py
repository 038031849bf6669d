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
        return layers + (f"{times}{numbers.in_flight}" if numbers.in_flight != "1" else "")
    if part == "loss":
        return f"{pen.numbers.integer(numbers.tokens)}{times}{pen.numbers.integer(numbers.vocab)}"
    if part == "unsharded":
        return tr("gathered layers")
    return tr("temporaries")


def per_parameter(part: str, numbers: Origin) -> int:
    """Bytes of a parameter in a part of the states; 0 where no one figure holds for all."""
    return {
        "weights": numbers.weight_bytes,
        "gradients": numbers.gradient_bytes,
        "optimizer": numbers.moment_bytes,
        "master_weights": numbers.master_bytes,
    }[part]


def ranks_of(part: str, numbers: Origin, state: BudgetState) -> int:
    """Ranks that share a part of the states between them."""
    assert state.answer is not None
    strategy = state.answer.scenario.plan.strategy
    shares = {
        "weights": strategy.shards_weights,
        "gradients": strategy.shards_gradients,
        "optimizer": strategy.shards_optimizer,
        "master_weights": strategy.shards_optimizer,
    }
    return numbers.shard if shares[part] else 1


def elements_of(part: str, numbers: Origin) -> int:
    """Elements that a part of the states is about: all, or those that are trained."""
    return numbers.parameters if part == "weights" else numbers.trainable


def _state(part: str, numbers: Origin, state: BudgetState, pen: Pen) -> str:
    size, ranks = per_parameter(part, numbers), ranks_of(part, numbers, state)
    count = pen.numbers.count(elements_of(part, numbers))
    text = f"{count} {pen.glyphs.times} {size} B" if size else count
    return f"{text} / {ranks}" if ranks > 1 else text
