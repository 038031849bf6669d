"""Removes the black boxes of jobs that ended long ago, and nothing that runs or is foreign."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.discovery import Place, search
from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.process import Host, Life, life_of, this_host
from scaletui_engine.live.ring import RingReader

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import Moment

DEFAULT_AGE_S: Final = 7 * 86_400.0
"""How long a finished job's rings stay when nobody says otherwise."""
_BROKEN: Final = (
    Fault.EMPTY, Fault.TRUNCATED, Fault.NOT_A_RING, Fault.WRONG_ENDIAN, Fault.WRONG_VERSION,
    Fault.WRONG_LAYOUT, Fault.TORN, Fault.OVERSIZED,
)  # fmt: skip
"""Faults of a file of this user's that no reader will ever read."""


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What a clean-up did."""

    place: Place
    removed: tuple[str, ...]
    running: int
    """Rings whose process lives."""
    young: int
    """Rings of ended jobs that were younger than the limit."""
    foreign: int
    """Files that are none of this user's rings, or could not be removed."""


def clean(folder: str, moment: Moment, age_s: float = DEFAULT_AGE_S, host: Host | None = None) -> Cleaning:
    """Remove the rings of ended jobs that were last written more than `age_s` ago. Raises nothing."""
    here = host or this_host()
    place, paths = search(folder)
    kinds = {path: _kind(path, moment, age_s, here) for path in paths}
    removed = tuple(path for path, kind in kinds.items() if kind == "old" and _removed(path))
    counts = list(kinds.values())
    left = counts.count("old") - len(removed)
    return Cleaning(
        place, removed, counts.count("running"), counts.count("young"), counts.count("foreign") + left
    )


def _kind(path: str, moment: Moment, age_s: float, host: Host) -> str:
    """ "running", "young", "old" or "foreign"."""
    outcome = RingReader(path, os.geteuid()).read()
    if isinstance(outcome, RingFault):
        if outcome.fault not in _BROKEN:
            return "foreign"
    else:
        identity = outcome.header.identity
        here = (identity.boot_id, identity.host) == (host.boot_id, host.name)
        if here and life_of(identity.process, host) in (Life.ALIVE, Life.STOPPED):
            return "running"
    return "old" if _age_s(path, moment) > age_s else "young"


def _age_s(path: str, moment: Moment) -> float:
    """Seconds since the last write by the wall clock; a file that is gone has none."""
    try:
        return (moment.wall_ns - os.lstat(path).st_mtime_ns) / 1e9
    except OSError:
        return 0.0


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
