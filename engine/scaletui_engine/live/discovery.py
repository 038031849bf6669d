"""Finds ring files in a folder, after the folder itself has passed the probe's own checks."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from itertools import islice
from typing import Final

from scaletui_engine.live.fault import Fault
from scaletui_probe.directory import DirectoryError, open_directory
from scaletui_probe.layout import SUFFIX

MOST_ENTRIES: Final = 65_536
"""Directory entries looked at: a folder with more is somebody else's."""


@dataclass(frozen=True, slots=True)
class Place:
    """One folder that was searched."""

    path: str
    fault: Fault | None = None
    """Why it could not be searched; None when it was."""
    detail: str = ""
    rings: int = 0


def search(folder: str) -> tuple[Place, tuple[str, ...]]:
    """The ring files of a folder, in the order of their names, and how the search went. Raises nothing."""
    try:
        descriptor = open_directory(folder)
    except DirectoryError as error:
        return Place(folder, _FAULTS.get(error.errno or 0, Fault.UNREADABLE), str(error)), ()
    try:
        with os.scandir(descriptor) as entries:
            names = sorted(
                entry.name for entry in islice(entries, MOST_ENTRIES) if entry.name.endswith(SUFFIX)
            )
        owner = os.fstat(descriptor).st_uid
    except OSError as error:
        return Place(folder, Fault.UNREADABLE, os.strerror(error.errno or 0)), ()
    finally:
        os.close(descriptor)
    if not names and owner != os.geteuid():
        why = f"{folder} belongs to user {owner}, not to {os.geteuid()}, and holds no rings"
        return Place(folder, Fault.FOREIGN, why), ()
    prefix = os.path.join(folder, "")
    return Place(folder, rings=len(names)), tuple([prefix + name for name in names])


_FAULTS: Final = {
    errno.ENOENT: Fault.MISSING,
    errno.ELOOP: Fault.SYMLINK,
    errno.ENOTDIR: Fault.NOT_A_FILE,
    errno.EPERM: Fault.FOREIGN,
}
