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


def require_use(args: Namespace) -> None:
    """Raises UsageError for an option that says nothing beside the others."""
    for option, other in _NEEDS.items():
        if _is_given(args, option) and getattr(args, other) is None:
            raise UsageError(tr("{name} wants {other}", name=_spelled(option), other=_spelled(other)))
    if args.load is not None:
        for option in filter(lambda option: _is_given(args, option), _OF_A_SHAPE):
            _refuse(option, _spelled("load"))


def choices_for(args: Namespace, name: str) -> Choices:
    """The choices of one schedule. Raises UsageError for one that it does not look at."""
    for option, readers in _READ_BY.items():
        if _is_given(args, option) and name not in readers:
            _refuse(option, name)
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


def _refuse(option: str, other: str) -> None:
    raise UsageError(tr("{name} does not go with {other}", name=_spelled(option), other=other))
