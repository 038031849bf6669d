"""The screen, opened on a mode."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from scaletui.commands.scenario_options import add_scenario_options, asks_scenario, scenario_from
from scaletui.options import MODES, ScreenOptions
from scaletui.text.language import N_
from scaletui_engine.errors import ValueRangeError, brief

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, MutableMapping
    from typing import TextIO

HELP: Final = N_("open the screen on this mode")

FPS: Final = 10
FPS_OVER_SSH: Final = 4
MOST_FPS: Final = 240
"""No terminal draws more, and no float holds every number that can be typed."""
ANSWERS_PER_S: Final = 60
"""What moves by itself keeps to the frames asked for; a key is not made to wait for the next of them."""


def add_arguments(parser: ArgumentParser) -> None:
    """SCENARIO OPTIONS, all of them free to leave out."""
    add_scenario_options(parser)


def run(args: Namespace) -> int:
    """Open the screen."""
    return open_screen(screen_options(args, os.environ))


def screen_options(args: Namespace, environ: Mapping[str, str]) -> ScreenOptions:
    """The options of a command line; commands that end in the screen use it too. Raises ScenarioError."""
    if args.fps is not None and args.fps < 1:
        raise ValueRangeError(f"--fps {args.fps} < 1", "--fps 1")
    if args.fps is not None and args.fps > MOST_FPS:
        raise ValueRangeError(f"--fps {brief(args.fps)} > {MOST_FPS}", f"--fps {MOST_FPS}")
    remote = "SSH_CONNECTION" in environ or "SSH_TTY" in environ
    with_scenario = "scenario" in args and asks_scenario(args)
    return ScreenOptions(
        mode=args.command if args.command in MODES else MODES[0],
        scenario=scenario_from(args) if with_scenario else None,
        theme=args.theme,
        ascii=args.ascii or lacks_unicode(sys.__stderr__),
        big=args.big,
        mouse=not args.no_mouse,
        fps=args.fps or (FPS_OVER_SSH if remote else FPS),
        motion=environ.get("TEXTUAL_ANIMATIONS", "").lower() != "none",
        process=_process(getattr(args, "pid", None)),
        stopped=getattr(args, "stopped", None),
    )


def _process(pid: int | None) -> tuple[int, int] | None:
    """The process of that number that lives now."""
    if pid is None:
        return None
    from scaletui_probe.process import start_ticks

    return pid, start_ticks(pid)


def lacks_unicode(stream: TextIO | None) -> bool:
    """Whether what a screen draws with would come out as question marks."""
    return stream is not None and "utf" not in (stream.encoding or "").lower()


def without_exported_size(environ: MutableMapping[str, str], terminal: tuple[int, int]) -> None:
    """Forget a size that a shell exported: it does not follow the terminal, unless that has no size.

    A screen in a browser is told its size in the same variables.
    """
    if min(terminal) > 0 and "TEXTUAL_DRIVER" not in environ:
        for name in ("COLUMNS", "LINES"):
            environ.pop(name, None)


def _terminal_size() -> tuple[int, int]:
    """Columns and lines; (0, 0) where there is no terminal."""
    try:
        return os.get_terminal_size()
    except OSError:
        return 0, 0


def open_screen(options: ScreenOptions) -> int:
    """Set what Textual reads at import, import the app and run it; returns its exit code."""
    os.environ["TEXTUAL_FPS"] = str(max(options.fps, ANSWERS_PER_S))
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    os.environ.setdefault("TEXTUAL_SMOOTH_SCROLL", "0")
    without_exported_size(os.environ, _terminal_size())
    from scaletui import app  # Textual costs a quarter of a second

    return app.run(options)
