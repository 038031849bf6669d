"""The commands of the command line, one module each, imported only when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence

MODULES: Final = {
    "budget": "scaletui.commands.screen",
    "schedule": "scaletui.commands.schedule",
    "sharding": "scaletui.commands.screen",
    "live": "scaletui.commands.live",
    "replay": "scaletui.commands.replay",
    "memory": "scaletui.commands.memory",
    "shard": "scaletui.commands.shard",
    "ranks": "scaletui.commands.ranks",
    "traffic": "scaletui.commands.traffic",
    "simulate": "scaletui.commands.simulate",
    "collective": "scaletui.commands.collective",
    "run": "scaletui.commands.run",
    "probe": "scaletui.commands.probe",
    "demo": "scaletui.commands.demo",
    "lesson": "scaletui.commands.lesson",
    "names": "scaletui.commands.names",
}
"""Command -> module, in the order in which help lists them."""

PLAN_OPTIONS: Final = frozenset(
    ("--model", "--gpu", "--gpus", "--gpus-per-node", "--tp", "--cp", "--ep", "--pp", "--dp-replicate",
     "--dp-shard", "--strategy", "--precision", "--optimizer", "--recompute", "--offload", "--micro-batch",
     "--global-batch", "--seq", "--schedule", "--layer-split")
)  # fmt: skip
"""Options of a scenario that a schedule alone does not take."""


class Command(Protocol):
    """What a command's module offers."""

    HELP: str
    """One line, English; `cli` translates it."""
    add_arguments: Callable[[ArgumentParser], None]
    """Adds the command's own arguments; `parser.prog` ends in the command's name."""
    run: Callable[[Namespace], int]
    """Does it and returns the exit code; the namespace also holds `command` and the global options."""


def load(name: str, words: Sequence[str] = ()) -> Command:
    """The module of a command; a plan's options after "schedule" ask for the screen on that plan."""
    asks_screen = name == "schedule" and any(word.partition("=")[0] in PLAN_OPTIONS for word in words)
    return cast("Command", import_module(MODULES["budget" if asks_screen else name]))
