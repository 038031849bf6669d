"""Text that a person or a file system gave, fit to be shown on one line."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with its controls, line ends and half characters spelled out, as Python writes them."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
