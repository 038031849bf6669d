"""Text out of a job's files, made safe to print."""

from __future__ import annotations

from typing import Final

REPLACEMENT: Final = "\ufffd"


def clean(data: bytes) -> str:
    """UTF-8 up to the first zero, with everything that could steer a terminal replaced."""
    return safe(data.split(b"\0", 1)[0].decode("utf-8", "replace"))


def safe(text: str) -> str:
    """The text with every character that is not printable replaced; a command may hold escape sequences."""
    return text if text.isprintable() else "".join(c if c.isprintable() else REPLACEMENT for c in text)
