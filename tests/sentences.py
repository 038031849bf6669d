"""Every sentence that the source code hands to gettext, read from the syntax tree.

`python tests/sentences.py` lists those that no catalogue translates yet.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TUI = Path(__file__).parents[1] / "tui" / "scaletui"
_MARKS = ("tr", "ntr", "N_")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One message as the code writes it."""

    msgid: str
    plural: str | None
    where: str


def sentences(root: Path = TUI) -> Iterator[Sentence]:
    """Messages of tr(), ntr(), N_() and of HELP in every module."""
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            texts = _texts(node)
            if texts:
                line = getattr(node, "lineno", 0)
                plural = texts[1] if len(texts) > 1 else None
                yield Sentence(texts[0], plural, f"{path.relative_to(root)}:{line}")


def untranslatable(root: Path = TUI) -> Iterator[str]:
    """Calls whose message is put together in place: no catalogue can hold it."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts = node.args[:1] if isinstance(node, ast.Call) and _name(node) in _MARKS else []
            yield from (
                f"{path.relative_to(root)}:{text.lineno}"
                for text in texts
                if isinstance(text, (ast.JoinedStr, ast.BinOp))
            )


def _texts(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Call) and _name(node) in ("tr", "N_"):
        return _constants(node.args[:1])
    if isinstance(node, ast.Call) and _name(node) == "ntr":
        return _constants(node.args[:2])
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == "HELP" for target in targets):
            return _constants([node.value])
    return []


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _constants(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def main() -> int:
    """Print the messages that pt-BR lacks, as .po entries."""
    from scaletui.text.catalogue import entries

    known = {entry.msgid for entry in entries("pt_BR")}
    missing = {sentence.msgid: sentence for sentence in sentences() if sentence.msgid not in known}
    for sentence in missing.values():
        print(f"#: {sentence.where}\nmsgid {_quoted(sentence.msgid)}")
        if sentence.plural is not None:
            print(f'msgid_plural {_quoted(sentence.plural)}\nmsgstr[0] ""\nmsgstr[1] ""\n')
        else:
            print('msgstr ""\n')
    return int(bool(missing))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


if __name__ == "__main__":
    sys.exit(main())
