"""Whether a folder lies on a file server: one that hangs would hold up whoever writes there."""

from __future__ import annotations

import os
import re
from typing import Final

MOUNTS: Final = "/proc/self/mountinfo"
SERVED: Final = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "orangefs", "pvfs2",
    "panfs", "wekafs", "afs", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.s3fs", "fuse.gcsfuse",
    "fuse.juicefs",
})  # fmt: skip
"""File systems by the names that Linux gives them, whose data come over a network."""
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


def served_by(folder: str, mounts: str = MOUNTS) -> str:
    """The kind of file server that a folder lies on; empty for a local one, and where that is not known.

    Of the mount points that lead to the folder the longest counts, and of several there the last
    (proc_pid_mountinfo(5)).
    """
    path, longest, kind = os.path.realpath(folder), 0, ""
    for line in _lines(mounts):
        before, _, after = line.partition(" - ")
        point = _plain(before.split(" ")[4])
        leads = path == point or path.startswith(point.rstrip("/") + "/")
        if leads and len(point) >= longest:
            longest, kind = len(point), after.split(" ")[0]
    return kind if kind in SERVED else ""


def _lines(mounts: str) -> list[str]:
    try:
        with open(mounts, encoding="utf-8", errors="replace") as file:
            return [line for line in file if line.count(" ") > 4]
    except OSError:
        return []


def _plain(point: str) -> str:
    """Blanks and the like are written as octal numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), point)
