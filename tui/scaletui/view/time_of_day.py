"""The time of day of a recorded moment, told as what everybody can compare: UTC."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

LATEST_S: Final = 253_402_300_799
"""The last second that a date has: of the year 9999."""


def time_of_day(wall_ns: int) -> str:
    """Nanoseconds since 1970 -> "20:26:44 UTC"."""
    return _moment(wall_ns).strftime("%H:%M:%S UTC")


def when(wall_ns: int, now_wall_ns: int) -> str:
    """The same of what is over, to the minute: "20:26 UTC", or the day where that is not today's.

    Unlike an age it does not change while somebody looks on.
    """
    moment, today = _moment(wall_ns), _moment(now_wall_ns)
    return moment.strftime("%H:%M UTC" if moment.date() == today.date() else "%Y-%m-%d")


def _moment(wall_ns: int) -> datetime:
    """A file may tell any number for a time."""
    return datetime.fromtimestamp(min(max(wall_ns // 1_000_000_000, 0), LATEST_S), tz=timezone.utc)
