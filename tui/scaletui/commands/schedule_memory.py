"""`--forward-memory` and its like: what an action adds to the memory of its rank and takes from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.text.language import tr
from scaletui_engine.errors import brief

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_engine.schedule.deltas import Deltas

FIELDS: Final = ("forward_memory", "input_grad_memory", "weight_grad_memory")


def add_memory(parser: ArgumentParser) -> None:
    """The three options."""
    memory = parser.add_argument_group(
        tr("memory that one action adds or, negative, frees: one, or one a stage")
    )
    memory.add_argument("--forward-memory", metavar="F", help=tr("forward (1)"))
    memory.add_argument(
        "--input-grad-memory", metavar="I", help=tr("gradient of the input (0), as in -0.4 or 0.2")
    )
    memory.add_argument("--weight-grad-memory", metavar="W", help=tr("gradient of the weights (-F - I)"))


def given_deltas(args: Namespace) -> Deltas | None:
    """The deltas that were given; None where none was. Raises UsageError for what is no number."""
    from scaletui_engine.schedule.deltas import Deltas

    if all(getattr(args, field) is None for field in FIELDS):
        return None
    forward, input_grad = _values(args, FIELDS[0], "1"), _values(args, FIELDS[1], "0")
    if args.weight_grad_memory is not None:
        return Deltas(forward, input_grad, _values(args, FIELDS[2], ""))
    count = max(len(forward), len(input_grad))
    spread = (values * count if len(values) == 1 else values for values in (forward, input_grad))
    return Deltas(forward, input_grad, tuple(-kept - grown for kept, grown in zip(*spread, strict=False)))


def freed_by_input_grad(deltas: Deltas | None) -> float | None:
    """The part of what F keeps that I frees, for zb-auto's search; None where stages differ."""
    if deltas is None or len(deltas.forward) > 1 or len(deltas.input_grad) > 1 or deltas.forward[0] <= 0:
        return None
    return -deltas.input_grad[0] / deltas.forward[0]


def _values(args: Namespace, field: str, default: str) -> tuple[float, ...]:
    text = getattr(args, field)
    try:
        return tuple(map(float, (default if text is None else text).split(",")))
    except ValueError:
        option = "--" + field.replace("_", "-")
        raise UsageError(
            tr("{option}: {text} is not a number, nor numbers like 1,-0.5", option=option, text=brief(text))
        ) from None
