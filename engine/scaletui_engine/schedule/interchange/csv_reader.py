"""PyTorch's schedule CSV: one row a rank, one cell an action, an empty cell an idle step.

Grammar of torch 2.13 and 2.14 (torch/distributed/pipelining/schedules.py, _Action), blanks allowed:

    row := cell ("," cell)*     cell := "" | simple | "(" simple ";" simple ")OVERLAP_F_B"
    simple := stage kind microbatch?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ParseError
from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import NO_MICROBATCH
from scaletui_engine.schedule.interchange.dialect import Cell, Dialect, cell_of, dialect_of, letters_of
from scaletui_engine.schedule.kind import KIND_OF_LETTER, Kind
from scaletui_engine.schedule.placement import Placement, PlacementError
from scaletui_engine.schedule.schedule import Schedule, frozen_rows
from scaletui_engine.schedule.shape import Shape

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.interchange.dialect import Word

MAX_NUMBER: Final = 1 << 20
"""Microbatches that a file may count to."""
BYTE_ORDER_MARK: Final = "\ufeff"
"""What spreadsheets put in front of the UTF-8 that they write."""


@dataclass(frozen=True, slots=True, eq=False)
class CsvSchedule:
    """What a file holds."""

    schedule: Schedule
    dialect: Dialect
    columns: tuple[tuple[int, ...], ...]
    """Per rank, the column (from 0) of every cell that is not empty: a file's time slots."""
    lowered: bool
    """Whether it has communication actions (compute_comms)."""


def read_csv(text: str, *, replicas: bool = False, name: str = "loaded") -> CsvSchedule:
    """A schedule from a file's text; placement, chunks and microbatches follow from its cells.

    `replicas` allows a stage on two ranks (DualPipe). Raises ParseError with line and column,
    PlacementError for a stage on two ranks. The order itself is judged by `check`.
    """
    lines = text.removeprefix(BYTE_ORDER_MARK).splitlines()
    rows = [_cells(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    cells = [cell for row in rows for cell in row]
    if not cells:
        raise ParseError("the file has no action: wanted one row a rank, as in 0F0,0F1,0B0,0B1")
    dialect = dialect_of(cells)
    letters = letters_of(dialect, cells)
    coded = [[code for cell in row for code in _codes(cell, letters)] for row in rows]
    schedule = schedule_from(coded, name=name, replicas=replicas)
    columns = tuple(tuple(cell.column - 1 for cell in row) for row in rows)
    lowered = any(code & codes.KIND_MASK > Kind.BACKWARD for row in coded for code in row)
    return CsvSchedule(schedule, dialect, columns, lowered)


def schedule_from(rows: list[list[Code]], *, name: str, replicas: bool = False) -> Schedule:
    """A schedule whose placement and size follow from its compute actions. Raises PlacementError."""
    compute = [(rank, code) for rank, row in enumerate(rows) for code in row if _computes(code)]
    if not compute:
        raise ParseError("the file has no F, I, W or B")
    holders: dict[int, dict[int, None]] = {}
    for rank, code in compute:
        holders.setdefault((code >> codes.STAGE_SHIFT) & codes.STAGE_MASK, {})[rank] = None
    stages = 1 + max(holders)
    if missing := next((stage for stage in range(stages) if stage not in holders), None):
        raise PlacementError(f"no rank runs stage {missing} of {stages} (0 to {stages - 1})")
    for stage in sorted(holders):
        if len(holders[stage]) > 1 and not replicas:
            where = " and on ".join(f"rank {rank}" for rank in holders[stage])
            raise PlacementError(
                f"stage {stage} is on {where}; a model held twice has to be declared (replicas)"
            )
    microbatches = 1 + max(code >> codes.MICROBATCH_SHIFT for _, code in compute)
    placement = Placement(tuple(tuple(holders.get(stage, {0: None})) for stage in range(stages)))
    shape = Shape(len(rows), microbatches, max(1, stages // len(rows)))
    return Schedule(name, shape, placement, frozen_rows(rows))


def _computes(code: Code) -> bool:
    return code & codes.KIND_MASK <= Kind.BACKWARD


def _cells(number: int, line: str) -> list[Cell]:
    """The cells of a line that are not empty."""
    texts = [text.strip().strip('"').strip() for text in line.split(",")]
    return [cell_of(number, column, text) for column, text in enumerate(texts, 1) if text]


def _codes(cell: Cell, letters: dict[str, str]) -> tuple[Code, ...]:
    if len(cell.words) == 1:
        return (_code(cell, cell.words[0], letters),)
    first, second = (_code(cell, word, letters) for word in cell.words)
    kinds = (first & codes.KIND_MASK, second & codes.KIND_MASK)
    if kinds not in ((Kind.FORWARD, Kind.BACKWARD), (Kind.FORWARD, Kind.INPUT_GRAD)):
        raise cell.refusal("does not join a forward and a backward, in this order")
    return codes.overlapped(first, second)


def _code(cell: Cell, word: Word, letters: dict[str, str]) -> Code:
    kind = KIND_OF_LETTER.get(letters.get(word.kind, word.kind))
    if kind is None:
        raise cell.refusal(f"has the unknown kind {word.kind!r}: wanted one of {', '.join(KIND_OF_LETTER)}")
    whole = kind >= Kind.UNSHARD
    if whole and word.microbatch is not None:
        raise cell.refusal(
            f"has a microbatch, but {kind.letter} is of a whole stage: wanted {word.stage}{kind.letter}"
        )
    if not whole and word.microbatch is None:
        raise cell.refusal(f"lacks its microbatch: wanted {word.stage}{word.kind}0 or another number")
    if word.stage >= codes.MAX_STAGES or (word.microbatch or 0) >= MAX_NUMBER:
        raise cell.refusal(f"is out of bounds: stages < {codes.MAX_STAGES}, microbatches < {MAX_NUMBER}")
    return codes.encode(kind, word.stage, NO_MICROBATCH if word.microbatch is None else word.microbatch)
