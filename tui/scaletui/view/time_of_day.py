"""The time of day of a recorded moment, told as what everybody can compare: UTC."""

from __future__ import annotations

from datetime import datetime, timezone


def time_of_day(wall_ns: int) -> str:
    """Nanoseconds since 1970 -> "20:26:44 UTC"."""
    return datetime.fromtimestamp(wall_ns / 1e9, tz=timezone.utc).strftime("%H:%M:%S UTC")
