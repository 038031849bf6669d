"""Message catalogues: every .po file of a language, read as one."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from gettext import NullTranslations, c2py
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FIELD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d+)\])?\s+(".*")\s*')
_PLURAL = re.compile(r"Plural-Forms:[^;]*;\s*plural=([^;\n]+);")


@dataclass(frozen=True, slots=True)
class Entry:
    """One message with its translations: one, or one a plural form."""

    msgid: str
    plural: str | None
    forms: tuple[str, ...]
    fuzzy: bool = False


@dataclass(slots=True)
class _Draft:
    fields: dict[str, str] = field(default_factory=dict)
    last: str = ""
    fuzzy: bool = False

    def entry(self) -> Entry:
        forms = (text for name, text in sorted(self.fields.items()) if name.startswith("msgstr"))
        return Entry(self.fields["msgid"], self.fields.get("msgid_plural"), tuple(forms), self.fuzzy)


def read_po(text: str) -> Iterator[Entry]:
    """The entries of a .po file, its header (msgid "") included. Raises ValueError on a line that is none."""
    draft = _Draft()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if line.startswith(("#", "msgid ")) and "msgstr" in draft.last:
            yield draft.entry()
            draft = _Draft()
        if line.startswith("#"):
            draft.fuzzy |= line.startswith("#,") and "fuzzy" in line
            continue
        _take(draft, line, number)
    if "msgid" in draft.fields:
        yield draft.entry()


def _take(draft: _Draft, line: str, number: int) -> None:
    match = _FIELD.fullmatch(line)
    if match is not None:
        name, form, quoted = match.groups()
        draft.last = name if form is None else f"{name}{form}"
        draft.fields[draft.last] = ast.literal_eval(quoted)
    elif line.startswith('"') and draft.last:
        draft.fields[draft.last] += ast.literal_eval(line.rstrip())
    else:
        raise ValueError(f"line {number} of the catalogue is no message: {line!r}")


class Catalogue(NullTranslations):
    """gettext's interface over the entries of a language."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        super().__init__()
        self._forms: dict[str, tuple[str, ...]] = {}
        self._plural: Callable[[int], int] = lambda n: int(n != 1)
        for entry in entries:
            if entry.msgid:
                self._forms[entry.msgid] = entry.forms
            elif match := _PLURAL.search(entry.forms[0]):
                self._plural = c2py(match.group(1))

    def gettext(self, message: str) -> str:
        """The translation of a message, or the message."""
        forms = self._forms.get(message)
        return forms[0] if forms else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """The plural form for n."""
        forms = self._forms.get(msgid1)
        if not forms:
            return msgid1 if n == 1 else msgid2
        return forms[min(self._plural(n), len(forms) - 1)]


def load(folder: str) -> Catalogue:
    """The catalogue of `locale/FOLDER`: its .po files in the order of their names."""
    return Catalogue(entries(folder))


def entries(folder: str) -> Iterator[Entry]:
    """Every entry of every .po file of a language."""
    root = files("scaletui.text") / "locale" / folder
    for file in sorted(root.iterdir(), key=lambda item: item.name):
        if file.name.endswith(".po"):
            yield from read_po(file.read_text(encoding="utf-8"))
