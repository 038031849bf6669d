"""`scaletui schedule --layout`: the stages as Megatron-LM's layout string deals them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.arguments import UsageError
from scaletui.text.language import tr

if TYPE_CHECKING:
    from argparse import Namespace

    from scaletui_engine.schedule.interchange.megatron_layout import Layout
    from scaletui_engine.schedule.times import Times


def given_layout(args: Namespace) -> Layout | None:
    """The layout that was given. Raises ParseError, UsageError beside an option that it decides."""
    from scaletui_engine.schedule.interchange.megatron_layout import parse_layout

    if args.layout is None:
        return None
    for option in ("chunks", "compare"):
        if getattr(args, option) is not None:
            raise UsageError(tr("{name} does not go with {other}", name=f"--{option}", other="--layout"))
    return parse_layout(args.layout)


def timed(times: Times, layout: Layout | None) -> Times:
    """The times of the layout's stages, where there is one."""
    from scaletui_engine.schedule.estimate.from_layout import layered

    return times if layout is None else layered(times, layout)


def layout_remarks(layout: Layout | None) -> tuple[str, ...]:
    """Sentences about a layout that gave its stages their times."""
    if layout is None:
        return ()
    each = tr("one time that is given is of one layer (t or m); embedding and loss take none")
    return (layout_text(layout), each)


def layout_text(layout: Layout) -> str:
    """The layout in one line."""
    return tr("layout, as Megatron-LM writes it: {layout}", layout=str(layout))


def model_remarks(layout: Layout) -> tuple[str, ...]:
    """What a layout has that the model of a scenario has not."""
    if not layout.count("m"):
        return ()
    return (tr("m is left out: the model has no multi-token prediction"),)
