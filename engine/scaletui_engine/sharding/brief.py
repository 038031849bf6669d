"""What a person typed, as much of it as a refusal repeats."""

from __future__ import annotations

from typing import Final

MOST: Final = 20
"""Characters."""


def brief(value: object) -> str:
    """The value itself, or its beginning and three dots."""
    text = str(value)
    return text if len(text) <= MOST else text[: MOST - 3] + "..."
