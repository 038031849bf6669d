"""Where the blocks of a recording lie, found in one pass that believes nothing."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.recording.checked import place_of, so_many, text_of
from scaletui_engine.live.recording.fault import DamageError
from scaletui_engine.live.recording.layout import (
    BLOCK,
    BLOCK_MAGIC,
    CRC_OFFSET,
    MOST_BLOCKS,
    MOST_MARKS,
    MOST_PACKED,
    Block,
)
from scaletui_engine.live.recording.marks import Mark, MarkKind
from scaletui_engine.live.recording.packing import loaded, unpacked
from scaletui_engine.live.text import safe

if TYPE_CHECKING:
    from typing import BinaryIO

LARGEST_NS: Final = 1 << 63
MOST_RANKS: Final = 1 << 31
_KINDS: Final = {str(kind): kind for kind in MarkKind}


@dataclass
class Index:
    """Looks and shared values by number, marks by time; `damage` says why it ends before the file does."""

    offsets: array[int] = field(default_factory=lambda: array("Q"))
    """Of each look's block."""
    times_ns: array[int] = field(default_factory=lambda: array("Q"))
    """Monotonic time of each look; it never falls."""
    wholes: array[int] = field(default_factory=lambda: array("Q"))
    """Numbers of the looks that are told whole."""
    values: array[int] = field(default_factory=lambda: array("Q"))
    """Offset of each shared value's block."""
    marks: list[Mark] = field(default_factory=lambda: [])  # noqa: PIE807 (list alone has no element type)
    schema: object = None
    end: int = 0
    """The first byte behind the last whole block."""
    damage: str = ""
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """A block's prefix, checked together with its payload."""

    kind: int
    monotonic_ns: int
    wall_ns: int


def read_block(file: BinaryIO, offset: int) -> tuple[Head, bytes]:
    """The block there. Raises DamageError for one that is not whole, and OSError."""
    file.seek(offset)
    head = file.read(BLOCK.size)
    if len(head) < BLOCK.size:
        raise DamageError(f"a block's prefix is cut at byte {offset}")
    magic, checksum, length, kind, monotonic_ns, wall_ns = BLOCK.unpack(head)
    if magic != BLOCK_MAGIC or length > MOST_PACKED:
        raise DamageError(f"no block at byte {offset}")
    payload = file.read(length)
    if len(payload) < length:
        raise DamageError(f"a block is cut at byte {offset}")
    if zlib.crc32(payload, zlib.crc32(head[CRC_OFFSET:])) != checksum:
        raise DamageError(f"a block is damaged at byte {offset}")
    return Head(kind, monotonic_ns, wall_ns), payload


def index_of(file: BinaryIO, start: int, size: int) -> Index:
    """Every whole block from `start` on; it ends in front of the first that is not. Raises OSError."""
    index = Index(end=start)
    try:
        while index.end < size:
            head, payload = read_block(file, index.end)
            _take(index, head, payload)
            index.blocks += 1
            index.end += BLOCK.size + len(payload)
    except DamageError as damage:
        index.damage = str(damage)
    return index


def _take(index: Index, head: Head, payload: bytes) -> None:
    """Note a block. Raises DamageError for one that a recorder would not have written here."""
    if index.blocks >= MOST_BLOCKS:
        raise DamageError(f"more than {MOST_BLOCKS} blocks")
    if (index.blocks == 0) is not (head.kind == Block.SCHEMA):
        raise DamageError(f"a block of kind {head.kind} at byte {index.end}")
    if head.kind == Block.SCHEMA:
        index.schema = loaded(unpacked(payload))
    elif head.kind == Block.VALUE:
        index.values.append(index.end)
    elif head.kind in (Block.WHOLE, Block.CHANGE):
        _take_look(index, head)
    elif head.kind == Block.MARK and len(index.marks) < MOST_MARKS:
        index.marks.append(_mark(head, loaded(unpacked(payload))))


def _take_look(index: Index, head: Head) -> None:
    last_ns = index.times_ns[-1] if index.times_ns else 0
    if not last_ns <= head.monotonic_ns < LARGEST_NS or head.wall_ns >= LARGEST_NS:
        raise DamageError(f"time runs backwards at byte {index.end}")
    if head.kind == Block.WHOLE:
        index.wholes.append(len(index.offsets))
    elif not index.wholes:
        raise DamageError(f"a change of nothing at byte {index.end}")
    index.offsets.append(index.end)
    index.times_ns.append(head.monotonic_ns)


def _mark(head: Head, data: object) -> Mark:
    job, rank, kind, word = so_many(data, 4, "a mark")
    found = _KINDS.get(text_of(kind))
    if found is None:
        raise DamageError("a mark of an unknown kind")
    number = None if rank is None else place_of(rank, MOST_RANKS)
    return Mark(head.monotonic_ns, head.wall_ns, safe(text_of(job)), number, found, safe(text_of(word)))
