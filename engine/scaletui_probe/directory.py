"""Where ring files lie, and when such a folder may be trusted."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "SCALETUI_DIR"


class DirectoryError(OSError):
    """A folder that may not hold rings; `str()` is the one line that says why and what to do."""

    def __str__(self) -> str:
        return str(self.args[-1])


def default_directory() -> str:
    """`scaletui-<uid>` in the system's temporary folder: a place that outlives a login."""
    return os.path.join(tempfile.gettempdir(), f"scaletui-{os.geteuid()}")


def ring_directory(explicit: str | None, environ: Mapping[str, str]) -> str:
    """The folder of the rings: the one named, else `$SCALETUI_DIR`, else the default; absolute."""
    return os.path.abspath(explicit or environ.get(VARIABLE) or default_directory())


def open_directory(path: str, create: bool = False) -> int:
    """A descriptor of the folder once it was checked, for `dir_fd`; raises DirectoryError when a check
    fails.

    The last component is not followed when it is a link. The folder must belong to this user (or to root),
    and only its owner may write in it; the default one, which lies where everybody can write, must be 0700
    and this user's.
    """
    if create:
        _create(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise DirectoryError(error.errno, f"{path} is a link or a file, not a folder") from error
        raise DirectoryError(error.errno, f"{path}: {error.strerror}") from error
    refusal = _refusal(path, os.fstat(descriptor))
    if refusal is not None:
        os.close(descriptor)
        raise DirectoryError(errno.EPERM, refusal)
    return descriptor


def _create(path: str) -> None:
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except FileExistsError:
        return
    except OSError as error:
        raise DirectoryError(error.errno, f"{path}: {error.strerror}") from error


def _refusal(path: str, status: os.stat_result) -> str | None:
    mine = os.geteuid()
    mode = stat.S_IMODE(status.st_mode)
    if path == default_directory():
        if status.st_uid != mine or mode & 0o077:
            return f"{path} has owner {status.st_uid} and mode {mode:04o}, not owner {mine} and mode 0700"
        return None
    if status.st_uid not in (mine, 0):
        return f"{path} belongs to user {status.st_uid}, not to {mine}"
    if mode & 0o022:
        return f"{path} has mode {mode:04o}: others could write in it; chmod go-w {path}"
    return None
