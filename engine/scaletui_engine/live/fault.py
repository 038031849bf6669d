"""What can be wrong with a ring file: typed outcomes, because a file in a shared folder may hold anything."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.compat import StrEnum


class Fault(StrEnum):
    """Why a file is not read as a ring."""

    MISSING = "missing"
    """It is not there, or no longer."""
    UNREADABLE = "unreadable"
    """The system refuses to open or to read it."""
    SYMLINK = "symlink"
    """A link stands in the file's place; links are never followed."""
    NOT_A_FILE = "not a file"
    """A directory, a pipe or a device."""
    FOREIGN = "foreign"
    """It belongs to another user."""
    EMPTY = "empty"
    """No byte yet: the job is just creating it, or the disk is full."""
    TRUNCATED = "truncated"
    """Shorter than its own header says."""
    OVERSIZED = "oversized"
    """Larger than any ring, or with counts beyond any ring's."""
    NOT_A_RING = "not a ring"
    """Its first bytes are not those of a ring."""
    WRONG_ENDIAN = "wrong endian"
    """Written on a machine of the other byte order."""
    WRONG_VERSION = "wrong version"
    """Written by a probe of another version."""
    WRONG_LAYOUT = "wrong layout"
    """Offsets or sizes that this version cannot have."""
    TORN = "torn"
    """The header does not hold still or has the wrong checksum."""


@dataclass(frozen=True, slots=True)
class RingFault:
    """One file that was not read."""

    path: str
    fault: Fault
    detail: str = ""
    """The numbers behind it: "version 7, this reader knows 1"."""
