"""What a terminal would show: a small reader of the sequences that the app writes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\x1b\[([0-9;?<>$]*)([A-Za-z@])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.|([\n\r])|([^\x1b\n\r]+)"
)
_FOREGROUND = re.compile(r"3.|9.")
_BACKGROUND = re.compile(r"4.|10.")
_OFF = {
    "22": ("1", "2"), "23": ("3",), "24": ("4", "21"), "25": ("5", "6"),
    "27": ("7",), "28": ("8",), "29": ("9",), "55": ("53",),
}  # fmt: skip
_KINDS = (None, _FOREGROUND, _BACKGROUND)


@dataclass
class Screen:
    """A grid of (character, style) cells; characters are taken to be one cell wide.

    What is written beyond an edge ends in the last cell there, as where lines do not wrap.
    """

    columns: int
    rows: int
    cells: list[list[tuple[str, str]]] = field(default_factory=list)
    x: int = 0
    y: int = 0
    style: str = ""

    def __post_init__(self) -> None:
        self.cells = [[(" ", "")] * self.columns for _ in range(self.rows)]

    def feed(self, output: bytes) -> Screen:
        """Take in what a program wrote."""
        for parameters, command, control, text in _TOKEN.findall(output.decode("utf-8", "replace")):
            if text:
                self._write(text)
            elif control == "\n":
                self.y = min(self.y + 1, self.rows - 1)
            elif control == "\r":
                self.x = 0
            else:
                self._command(parameters, command)
        return self

    def _command(self, parameters: str, command: str) -> None:
        if command == "H":
            row, column = (parameters or "1;1").split(";")
            self.x, self.y = int(column) - 1, int(row) - 1
        elif command == "m":
            self._select(parameters)
        elif command == "C":
            self.x += int(parameters or "1")
        elif command == "h" and parameters == "?1049":
            self.__post_init__()
        elif command == "J" and parameters == "2":
            ground = ";;".join(code for code in self.style.split(";;") if _BACKGROUND.match(code))
            self.cells = [[(" ", ground)] * self.columns for _ in range(self.rows)]
        elif command in "ABDJK" and command:
            raise AssertionError(f"this reader does not know CSI {parameters}{command}")

    def _select(self, parameters: str) -> None:
        """Keep the style as the codes in force, each once, in one order."""
        codes = re.findall(r"[34]8;2;\d+;\d+;\d+|[34]8;5;\d+|\d+", parameters) or ["0"]
        for code in codes:
            if code == "0":
                self.style = ""
                continue
            if code in _OFF:
                self.style = ";;".join(old for old in self.style.split(";;") if old not in _OFF[code])
                continue
            kind = _KINDS[bool(_FOREGROUND.match(code)) + 2 * bool(_BACKGROUND.match(code))]
            kept = [old for old in self.style.split(";;") if old and (kind is None or not kind.match(old))]
            is_default = code in ("39", "49")
            self.style = ";;".join(sorted({*kept, *([] if is_default else [code])}))

    def _write(self, text: str) -> None:
        for character in text:
            x, y = min(self.x, self.columns - 1), min(self.y, self.rows - 1)
            self.cells[y][x] = (character, self.style)
            self.x += 1

    @property
    def lines(self) -> list[str]:
        """The text of each line."""
        return ["".join(character for character, _ in line) for line in self.cells]

    @property
    def visible(self) -> list[list[tuple[str, str]]]:
        """The cells by what can be seen: a blank has no foreground, unless a line or a reversal shows it."""
        return [[_visible(*cell) for cell in line] for line in self.cells]

    @property
    def styles(self) -> set[str]:
        """SGR codes of all cells."""
        return {code for line in self.cells for _, style in line for code in style.split(";;") if code}


def _visible(character: str, style: str) -> tuple[str, str]:
    codes = style.split(";;")
    if character != " " or {"4", "7", "9"} & set(codes):
        return character, style
    return character, ";;".join(code for code in codes if _BACKGROUND.match(code))
