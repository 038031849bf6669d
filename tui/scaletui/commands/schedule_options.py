"""Options of `scaletui schedule` that only some schedules read: one that would change nothing is refused."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.text.language import tr

if TYPE_CHECKING:
    from argparse import Namespace

    from scaletui_engine.schedule.shape import Choices

_READ_BY: Final = MappingProxyType({
    "group": ("interleaved-1f1b", "combined-1f1b"), "slices": ("seq1f1b",), "memory_limit": ("zb-auto",),
    "no_reorder": ("v-half", "v-min"),
})  # fmt: skip
"""Option -> the schedules that look at it."""
_OF_A_SHAPE: Final = ("stages", "microbatches", "chunks", *_READ_BY)
"""What the rows of a file say themselves."""
_NEEDS: Final = MappingProxyType({"replicas": "load", "each_alone": "optimizer_step", "basis": "compare"})
"""Option -> the one without which it means nothing."""


_APART: Final = MappingProxyType({
    "load": ("scenario", *_OF_A_SHAPE),
    "compare": ("csv", "comms", "chunk_order", "plain", "trace", "svg", "optimizer_step"),
})  # fmt: skip
"""Option -> those that say nothing beside it."""


def require_use(args: Namespace) -> None:
    """Raises UsageError for an option that says nothing beside the others."""
    for option, other in _NEEDS.items():
        if _is_given(args, option) and getattr(args, other) is None:
            raise UsageError(tr("{name} wants {other}", name=_spelled(option), other=_spelled(other)))
    for other, options in _APART.items():
        for option in options if getattr(args, other) is not None else ():
            _refuse_given(args, option, _spelled(other))
    if args.scenario is not None:
        _refuse_given(args, "basis", _spelled("scenario"))


def choices_for(args: Namespace, name: str) -> Choices:
    """The choices of one schedule. Raises UsageError for one that it does not look at."""
    for option, readers in _READ_BY.items():
        if name not in readers:
            _refuse_given(args, option, name)
    return choices_of(args)


def choices_of(args: Namespace) -> Choices:
    """What only some schedules ask, for several of them."""
    from scaletui.commands.schedule_memory import freed_by_input_grad, given_deltas
    from scaletui_engine.schedule.shape import Choices

    given = {"group": args.group, "slices": args.slices, "memory_limit": args.memory_limit}
    given["freed_by_input_grad"] = freed_by_input_grad(given_deltas(args))
    known = {name: value for name, value in given.items() if value is not None}
    return Choices(**known, reordered=not args.no_reorder)


def _is_given(args: Namespace, option: str) -> bool:
    value = getattr(args, option)
    return value is not None and value is not False


def _spelled(option: str) -> str:
    return "--" + option.replace("_", "-")


def _refuse_given(args: Namespace, option: str, other: str) -> None:
    if _is_given(args, option):
        raise UsageError(tr("{name} does not go with {other}", name=_spelled(option), other=other))
