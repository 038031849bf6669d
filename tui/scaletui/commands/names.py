"""`scaletui names`: every name that an option takes, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.commands.output import print_json
from scaletui.text.language import N_, tr

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from scaletui_engine.errors import UnknownNameError

HELP: Final = N_("list the names that options take: models, GPUs, schedules")
KINDS: Final = (
    "model", "gpu", "scenario", "schedule", "optimizer", "precision", "strategy", "recompute", "offload",
    "order", "simulation", "collective", "theme",
)  # fmt: skip
"""Each as a refusal spells it."""


def add_arguments(parser: ArgumentParser) -> None:
    """KIND and --json."""
    parser.add_argument("kind", nargs="?", metavar="KIND", help=" ".join(KINDS))
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))


def run(args: Namespace) -> int:
    """Print the names of one kind, or of every kind with the kind before each. Raises UnknownNameError."""
    kinds = KINDS if args.kind is None else (_kind(args.kind),)
    found = {kind: list(names_of(kind)) for kind in kinds}
    if args.json:
        print_json(found)
    elif args.kind is None:
        print("\n".join(f"{kind} {name}" for kind, names in found.items() for name in names))
    else:
        print("\n".join(found[kinds[0]]))
    return 0


def listing(error: UnknownNameError) -> str | None:
    """The command that lists the names among which one was not found, where one does."""
    kind = error.kind.lower()
    return f"scaletui names {kind}" if kind in KINDS else _ELSEWHERE.get(kind)


_ELSEWHERE: Final = {"kind": "scaletui names --help", "parameter": "scaletui memory ... --explain"}
"""Where names are listed that are not one of `KINDS`."""


def _kind(text: str) -> str:
    from scaletui_engine.errors import UnknownNameError

    if text.lower() not in KINDS:
        raise UnknownNameError("kind", text, KINDS)
    return text.lower()


def names_of(kind: str) -> tuple[str, ...]:
    """The names of one of `KINDS`, in the order of their catalogue."""
    from scaletui.commands.simulate import simulation_names
    from scaletui_engine.catalog import gpu_ids, model_ids
    from scaletui_engine.collectives.family import FAMILY
    from scaletui_engine.optimizers import optimizer_ids
    from scaletui_engine.plan import Offload, Recompute, Strategy
    from scaletui_engine.precisions import precision_ids
    from scaletui_engine.scenarios import scenario_ids
    from scaletui_engine.schedule.registry import schedule_names
    from scaletui_engine.sharding.orders import Order
    from scaletui_themes import theme_ids

    lists: dict[str, Callable[[], tuple[str, ...]]] = {
        "model": model_ids,
        "gpu": gpu_ids,
        "scenario": scenario_ids,
        "schedule": schedule_names,
        "optimizer": optimizer_ids,
        "precision": precision_ids,
        "strategy": lambda: tuple(member.value for member in Strategy),
        "recompute": lambda: tuple(member.value for member in Recompute),
        "offload": lambda: tuple(member.value for member in Offload),
        "order": lambda: tuple(member.value for member in Order),
        "simulation": simulation_names,
        "collective": lambda: tuple(op.value for op in FAMILY),
        "theme": theme_ids,
    }
    return lists[kind]()
