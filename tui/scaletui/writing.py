"""Writes a text to a file that a person named: what was there is lost only when the new text is whole."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from shutil import copymode
from tempfile import NamedTemporaryFile

from scaletui.text.language import tr


def meant(name: str) -> Path:
    """The path of a name with a "~" in front; a home that nobody has is taken as it is written.

    `Path.expanduser` raises RuntimeError there, and `Path.exists` OSError for a name that is too long.
    """
    return Path(os.path.expanduser(name.strip()))


def stands_there(path: Path) -> bool:
    """Whether something would be written over; what cannot be looked at is not there, or refuses later."""
    return os.path.exists(path)


def write_whole(path: Path, text: str) -> None:
    """The text in the place of what was there, by way of a file beside it; links are followed.

    Raises OSError, also for a directory, a pipe or a device; the file is then as it was.
    """
    place = Path(os.path.realpath(path))
    there = stands_there(place)
    if there and not stat.S_ISREG(place.stat().st_mode):
        raise OSError(errno.EINVAL, tr("not a regular file"))
    if there and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with NamedTemporaryFile(
        "w", encoding="utf-8", dir=place.parent, prefix=".scaletui-", delete=False
    ) as new:
        try:
            new.write(text)
            new.close()
            _permit(Path(new.name), place if there else None)
            os.replace(new.name, place)
        except (OSError, UnicodeError):
            with suppress(OSError):
                os.unlink(new.name)
            raise


def _permit(new: Path, old: Path | None) -> None:
    """What the old file allowed, else what the process gives every new file."""
    if old is not None:
        copymode(old, new)
        return
    mask = os.umask(0o077)
    os.umask(mask)
    new.chmod(0o666 & ~mask)
