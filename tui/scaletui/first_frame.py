"""Shows what the rings say at once: loading the library behind the screen takes several times as long.

Between this and the app nobody restores the terminal but the context itself: a signal ends it like an error.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from scaletui.text.language import language
from scaletui_themes import load_palette, theme_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scaletui.options import ScreenOptions

ENTER: Final = "\x1b[?1049h\x1b[?25l"
LEAVE: Final = "\x1b[0m\x1b[?25h\x1b[?1049l"
HUES: Final = ("truecolor", "24bit")
"""Values of COLORTERM; with fewer colours the first frame has none."""
SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def first_frame(options: ScreenOptions) -> Iterator[None]:
    """Draw, and put the terminal back if what follows fails."""
    if not _is_terminal() or (options.theme is not None and options.theme not in theme_ids()):
        yield
        return
    before = {number: signal.signal(number, _end) for number in SIGNALS}
    is_left = False
    try:
        with suppress(OSError):
            _write(ENTER + _picture(options, os.environ))
        yield
        is_left = True
    finally:
        if not is_left:
            _write(LEAVE)
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_terminal() -> bool:
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def _write(text: str) -> None:
    # Textual draws on the error output.
    if sys.__stderr__ is not None:
        sys.__stderr__.write(text)
        sys.__stderr__.flush()


def _end(number: int, frame: object) -> None:
    del frame
    raise SystemExit(128 + number)


def _picture(options: ScreenOptions, environ: Mapping[str, str]) -> str:
    from scaletui.live.clock import now
    from scaletui.options import default_theme
    from scaletui.state.live import LiveState, arrived
    from scaletui.text.glyphs import glyphs_for
    from scaletui.text.numbers import numbers_for
    from scaletui.view.box import Box
    from scaletui.view.first_frame import first_rows, painted
    from scaletui.view.pen import Pen
    from scaletui_engine.live.ring_source import RingSource
    from scaletui_engine.live.store import PLAN_BYTES, Store
    from scaletui_probe.directory import ring_directory

    palette = load_palette(options.theme or default_theme(environ))
    hues = environ.get("COLORTERM", "") in HUES and "NO_COLOR" not in environ and not palette.mono
    pen = Pen(glyphs_for(ascii_only=options.ascii, hues=hues), numbers_for(language()), options.big)
    source = RingSource(ring_directory(options.ring_dir, environ))
    try:
        moment = now()
        snapshot = Store(source.host, PLAN_BYTES).take(source.poll(moment), moment)
    finally:
        source.close()
    state, size = arrived(LiveState(sought=options.process), snapshot), os.get_terminal_size()
    return painted(first_rows(state, Box(size.columns, size.lines), pen), palette, hues=hues)
