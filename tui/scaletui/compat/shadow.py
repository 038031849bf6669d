"""A copy of what the terminal shows, so that only cells that differ are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from rich.style import Style

from scaletui.compat.sgr import PLAIN, RESET, change, ground
from scaletui.view.cells import is_one_cell_each

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.color import ColorSystem
    from rich.segment import Segment

Cell: TypeAlias = tuple[str, Style]
"""What is written at a cell; the text is empty at a cell that the one before it also fills."""


class Shadow:
    """Lines of cells, None where nobody knows what is shown."""

    def __init__(self) -> None:
        self._lines: list[list[Cell | None]] = []

    def forget(self) -> None:
        """Take nothing for shown."""
        self._lines.clear()

    def line(self, y: int, width: int) -> list[Cell | None]:
        """The line, at least that many cells long."""
        self._lines.extend([] for _ in range(y + 1 - len(self._lines)))
        line = self._lines[y]
        line.extend([None] * (width - len(line)))
        return line


class Frame:
    """One frame: takes stretches of cells, keeps the shadow, and gives what has to be written.

    A frame that has grown past `room` bytes takes no more and is `cut`: what is left differs from the shadow
    still, so the next frame writes it, and a key is answered between the two.
    """

    def __init__(self, shadow: Shadow, system: ColorSystem, room: int = 1 << 30) -> None:
        self.cut = False
        self._shadow = shadow
        self._system = system
        self._room = room
        self._written: list[str] = []
        self._style = PLAIN
        self._place = (-1, -1)

    def draw(self, x: int, y: int, cells: list[Cell]) -> None:
        """Show these cells from there on."""
        line = self._shadow.line(y, x + len(cells))
        shown = line[x : x + len(cells)]
        if shown == cells:
            return
        for start, end in changed_stretches(shown, cells):
            if self._room <= 0:
                self.cut = True
                return
            self._move(x + start, y)
            self._write(cells[start:end])
            self._place = (x + end, y)
            line[x + start : x + end] = cells[start:end]

    def text(self) -> str:
        """Everything that has to be written, and the terminal plain again."""
        if self._style != PLAIN:
            self._written.append(RESET)
            self._style = PLAIN
        return "".join(self._written)

    def _move(self, x: int, y: int) -> None:
        if (x, y) != self._place:
            ahead = x - self._place[0] if y == self._place[1] else 0
            self._put(f"\x1b[{ahead}C" if ahead > 0 else f"\x1b[{y + 1};{x + 1}H")

    def _write(self, cells: list[Cell]) -> None:
        pieces: list[str] = []
        for text, style in cells:
            if style is not self._style and not (text == " " and ground(self._style) is style):
                pieces.append(change(self._style, style, self._system))
                self._style = style
            pieces.append(text)
        self._put("".join(pieces))

    def _put(self, text: str) -> None:
        self._written.append(text)
        self._room -= len(text) if text.isascii() else len(text.encode())


def changed_stretches(shown: list[Cell | None], wanted: list[Cell]) -> list[tuple[int, int]]:
    """Half-open stretches that have to be written; near ones are joined where that takes no new style."""
    stretches: list[tuple[int, int]] = []
    start = end = _NOWHERE
    for at, (old, new) in enumerate(zip(shown, wanted, strict=True)):
        if old is new or old == new:
            continue
        if at != end and not _is_near(end, at, wanted):
            stretches.append((start, end))
            start = at
        end = at + 1
    stretches.append((start, end))
    return [_whole(first, last, wanted) for first, last in stretches if first != _NOWHERE]


def _is_near(end: int, at: int, wanted: list[Cell]) -> bool:
    """Whether what lies between two stretches is quicker written again than jumped over."""
    if end == _NOWHERE or at - end > _JOINED:
        return False
    style = wanted[end - 1][1]
    return all(between is style for _, between in wanted[end:at])


def _whole(start: int, end: int, wanted: list[Cell]) -> tuple[int, int]:
    """The stretch with the first cell of what it starts in, and the last of what it ends in."""
    while start and not wanted[start][0]:
        start -= 1
    while end < len(wanted) and not wanted[end][0]:
        end += 1
    return start, end


def cells_of(segments: Iterable[Segment]) -> list[Cell]:
    """Segments as cells. Text that is not one cell a character stays in one piece, at its first cell."""
    cells: list[Cell] = []
    for segment in segments:
        style = PLAIN if segment.style is None else segment.style
        if is_one_cell_each(segment.text):
            blank = (" ", ground(style))
            cells += [blank if character == " " else (character, style) for character in segment.text]
        elif segment.cell_length:
            cells += [(segment.text, style), *([("", style)] * (segment.cell_length - 1))]
    return cells


_NOWHERE: Final = -1
_JOINED: Final = 5
"""A jump costs about as many bytes as this many characters."""
