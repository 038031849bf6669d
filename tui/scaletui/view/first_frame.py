"""The live screen as text, before the library that keeps it up to date is loaded.

The same rows at the same places as the screen draws them, so that nothing moves when it takes over. There are
no keys below: none is answered yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui.state import live as state_of
from scaletui.view.box import Box
from scaletui.view.header import header_row
from scaletui.view.live_alerts import alert_rows
from scaletui.view.live_answer import answer_rows, header_facts
from scaletui.view.live_compare import compare_rows
from scaletui.view.live_empty import empty_rows
from scaletui.view.live_ranks import ranks_rows
from scaletui.view.live_room import room_for
from scaletui.view.live_skew import skew_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_themes import Look, Palette

FRAME: Final = 3
"""Header, news and keys."""
SIDES: Final = ((180, 96), (120, 44))
"""From so many cells on the columns beside the ranks take so many (styles/live.tcss)."""
MOST: Final = 3500
"""Bytes of a frame, like those of the screen."""
_OFF: Final = ";22;23;24;27;29"
_ATTRIBUTES: Final = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7", "strike": "9"}


def first_rows(state: LiveState, size: Box, pen: Pen) -> tuple[Row, ...]:
    """Header, answer, ranks and comparison; without a job where it was looked for."""
    body = Box(size.width, size.height - FRAME)
    rows = (header_row(header_facts(state), "live", size.width, pen), *_body(state, body, pen))
    return rows[: size.height]


def _body(state: LiveState, box: Box, pen: Pen) -> Iterator[Row]:
    yield from answer_rows(state, box.width, pen)
    if state.shown is None:
        return
    if state_of.job(state) is None:
        yield from empty_rows(state.shown, Box(box.width, box.height - 1), pen)
        return
    side = next((taken for least, taken in SIDES if box.width >= least), 0)
    main = Box(box.width - side, box.height)
    room = room_for(state, main, pen)
    yield from alert_rows(state, box, pen)[: room.alerts]
    yield from ranks_rows(state, Box(main.width, room.ranks), pen)
    yield from skew_rows(state, main.width, pen)[: room.skew]
    yield from compare_rows(state, Box(main.width, room.compare), pen)


def painted(rows: Sequence[Row], palette: Palette, *, hues: bool) -> str:
    """The rows on the palette's ground, in synchronized frames; without `hues` attributes alone."""
    ground = _colour(palette.base["background"], 48) if hues else ""
    codes = {role: _codes(look, ground, hues=hues) for role, look in palette.looks.items()}
    before = ("", ";39", ground or ";49")
    frames = [f"\x1b[0{ground}m\x1b[2J"]
    for number, row in enumerate(rows, 1):
        line = f"\x1b[{number};1H"
        for span in _trimmed(row):
            line += _change(before, codes[span.role]) + span.text
            before = codes[span.role]
        if len((frames[-1] + line).encode()) > MOST:
            frames.append("")
        frames[-1] += line
    return "".join(f"\x1b[?2026h{frame}\x1b[?2026l" for frame in (*frames, "\x1b[0m"))


def _trimmed(row: Row) -> Row:
    """Without blanks at its end that show nothing."""
    return row[:-1] if row and row[-1].role in ("text", "dim") and not row[-1].text.strip() else row


def _change(before: _Codes, after: _Codes) -> str:
    """The sequence that changes what differs; attributes are put out all together."""
    if before == after:
        return ""
    attributes = ("" if not before[0] else _OFF) + after[0] if before[0] != after[0] else ""
    colours = [new for old, new in zip(before[1:], after[1:], strict=True) if old != new]
    return f"\x1b[{''.join((attributes, *colours))[1:]}m"


def _codes(look: Look, ground: str, *, hues: bool) -> _Codes:
    attributes = "".join(f";{_ATTRIBUTES[name]}" for name in look.attributes)
    if not hues:
        return attributes, ";39", ";49"
    back = _colour(look.background, 48) if look.background else ground
    return attributes, _colour(look.foreground, 38) or ";39", back or ";49"


def _colour(text: str, layer: int) -> str:
    """`;38;2;r;g;b` for #rrggbb; nothing for a colour that the terminal names itself."""
    if not text.startswith("#"):
        return ""
    red, green, blue = (int(text[place : place + 2], 16) for place in (1, 3, 5))
    return f";{layer};2;{red};{green};{blue}"


_Codes: TypeAlias = tuple[str, str, str]
"""Attributes, foreground and background, each with the semicolon before it."""
