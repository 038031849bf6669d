"""Megatron-LM's signed order of model chunks: one row a rank, +c a forward of chunk c, -c its backward.

From convert_schedule_table_to_order (megatron/core/pipeline_parallel/schedules.py). Chunks count from 1;
microbatches are not written, for each chunk meets them in order. Whole backwards only.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scaletui_engine.errors import ParseError
from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import decode
from scaletui_engine.schedule.code import backward, forward
from scaletui_engine.schedule.interchange.csv_reader import schedule_from
from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.schedule import Schedule


def chunk_order(schedule: Schedule, rank: int) -> tuple[int, ...]:
    """The row of a rank. Raises ParseError for split backwards and microbatches out of turn."""
    chunk = {stage: number for number, stage in enumerate(schedule.placement.stages_of(rank), 1)}
    order: list[int] = []
    counts: Counter[int] = Counter()
    for code in schedule.rows[rank].tolist():
        kind, stage = code & codes.KIND_MASK, (code >> codes.STAGE_SHIFT) & codes.STAGE_MASK
        if kind not in (Kind.FORWARD, Kind.BACKWARD):
            raise ParseError(
                f"{schedule.name}: {Kind(kind).letter} has no sign in a chunk order: F and B only"
            )
        signed = chunk[stage] if kind == Kind.FORWARD else -chunk[stage]
        if code >> codes.MICROBATCH_SHIFT != counts[signed]:
            raise ParseError(
                f"{schedule.name}: {decode(code)} comes as number {counts[signed]} of its chunk,"
                " but a chunk order counts microbatches upwards"
            )
        counts[signed] += 1
        order.append(signed)
    return tuple(order)


def read_chunk_orders(text: str, name: str = "loaded") -> Schedule:
    """A schedule from one line of signed chunks a rank, stages placed in a loop. Raises ParseError."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise ParseError("no order: wanted one line a rank, as in 1 1 2 2 -2 1 -2 2 -1 -1")
    rows = [_row(rank, len(lines), line) for rank, line in enumerate(lines)]
    return schedule_from(rows, name=name)


def _row(rank: int, ranks: int, line: tuple[int, list[str]]) -> list[Code]:
    number, words = line
    counts: Counter[int] = Counter()
    row: list[Code] = []
    for column, word in enumerate(words, 1):
        chunk = _chunk(word, f"line {number}, column {column}")
        stage = (abs(chunk) - 1) * ranks + rank
        row.append((forward if chunk > 0 else backward)(stage, counts[chunk]))
        counts[chunk] += 1
    return row


def _chunk(word: str, where: str) -> int:
    digits = word[1:] if word[:1] in "+-" else word
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6 and int(digits)):
        raise ParseError(f"{where}: {word[:20]!r} is not a signed chunk, counted from 1")
    return int(word)
