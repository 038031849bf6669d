"""The file of a recording, byte by byte.

    offset 0     magic    b"STUIREC\\n"
    offset 8     version  u32, little-endian as all numbers here
    offset 12    blocks   one behind the other until the end of the file

A block is a prefix and a payload:

    magic 4 bytes, crc32 u32, length u32, kind u8, 3 zeros, monotonic_ns u64, wall_ns u64, payload

`crc32` covers everything behind it, payload included; the times are the recorded machine's. Blocks are only
ever appended, each with one write: a recorder that is killed leaves at most one that is not whole, and
a reader stops in front of the first such block. Payloads are JSON, packed with raw deflate:

    SCHEMA   the first block: {"classes": {name: [field, ...]}, "recorded_by": version of scaletui}. A value
             of a class is a list in the order of these fields
    VALUE    a value that many looks share (a job's plan); they are numbered from 0 in the order of the file
    WHOLE    one look (a `Snapshot`), all of it
    CHANGE   the next look, as what is different from the one before (`edits` tells how). The unpacked payload
             of the look before, at most its last DICTIONARY bytes, is deflate's preset dictionary
    MARK     [job, rank or null, kind, word]: something happened; it stands behind the look that showed it

WHOLE comes at least once in MOST_CHANGES looks and MOST_STRETCH bytes, so that a reader may begin there.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

from scaletui_engine.live.history import RECENT

MAGIC: Final = b"STUIREC\n"
VERSION: Final = 1
START: Final = struct.Struct("<8sI")
BLOCK_MAGIC: Final = b"\xf5blk"
BLOCK: Final = struct.Struct("<4sIIB3xQQ")
CRC_OFFSET: Final = 8
"""From here on a block's checksum counts."""
SUFFIX: Final = ".rec"

MOST_PACKED: Final = 8 << 20
"""Bytes of a payload, packed or not; more is not read and not written."""
MOST_STRETCH: Final = 64 << 20
"""Unpacked bytes from one whole look to the next: what one look may have been put together from."""
MOST_SHARED: Final = 64 << 20
"""Unpacked bytes of the shared values that the looks of one stretch refer to."""
MOST_BYTES: Final = 4 << 30
"""Of a file: a recorder stops there, and a reader refuses more."""
MOST_BLOCKS: Final = 2_000_000
"""Eleven days of two looks a second."""
MOST_MARKS: Final = 10_000
DICTIONARY: Final = 32 << 10
MOST_CHANGES: Final = 240
"""Looks that are told as changes before there is a whole one again, for few ranks."""
FEW_RANKS: Final = 64
"""With more ranks a look weighs more, and whole ones come more often."""
MANY_RANKS: Final = 4 * FEW_RANKS
"""With more ranks a look keeps fewer steps of each."""
SHORTEST_CURVE: Final = 32


class Block(IntEnum):
    """What a block holds."""

    SCHEMA = 1
    VALUE = 2
    WHOLE = 3
    CHANGE = 4
    MARK = 5


def kept_steps(ranks: int) -> int:
    """Steps of a rank's curve that a look of so many ranks keeps: with very many a whole one has to fit its
    block, and costs as much time as it weighs."""
    if ranks <= MANY_RANKS:
        return RECENT
    return max(RECENT * MANY_RANKS // ranks, SHORTEST_CURVE)


def changes_between(ranks: int) -> int:
    """Most changes between two whole looks: what a reader keeps of a stretch is bounded by it."""
    return max(MOST_CHANGES * FEW_RANKS // max(ranks, FEW_RANKS), 8)
