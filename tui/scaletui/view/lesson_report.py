"""The lesson's five tables, line for line as the lesson prints them, the corrected figures at their right."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui.view.row import Row, Span
from scaletui_engine.lesson import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaletui.text.numbers import Numbers

COLUMN: Final = 54
"""Cells of the lesson's own lines, before the corrected column."""
RULE: Final = "=" * 70


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the lesson and what stands beside it."""

    lesson: str
    corrected: str = ""


@dataclass(frozen=True, slots=True)
class LessonTable:
    """One of the five tables."""

    title: str
    lines: tuple[Line, ...]
    head: str
    """What the corrected column shows."""
    left_out: str


def lesson_tables(number: Numbers) -> Iterator[LessonTable]:
    """The tables in the lesson's order, each computed when it is asked for."""
    makers: tuple[Callable[[Numbers], LessonTable], ...] = (
        _data_parallel, _tensor_parallel, _pipeline, _memory, _precision,
    )  # fmt: skip
    return (make(number) for make in makers)


def plain_lines(table: LessonTable) -> list[str]:
    """The lesson's own lines and nothing else."""
    return [RULE, table.title, RULE, *(line.lesson for line in table.lines)]


def report_rows(table: LessonTable, width: int, vertical: str) -> list[Row]:
    """The lesson's lines, the corrected column, and below them what the lesson leaves out."""
    rows: list[Row] = [(Span(text, "dim"),) for text in (RULE, table.title, RULE)]
    lines = table.lines if table.lines[0].corrected == table.head else (Line("", table.head), *table.lines)
    for line in lines:
        rows.append((Span(f"{line.lesson:<{COLUMN}}"), Span(f"{vertical} ", "dim"), Span(line.corrected)))
    return [*rows, *((Span(text, "dim"),) for text in wrap(table.left_out, width))]


def _data_parallel(number: Numbers) -> LessonTable:
    lines = [
        Line(
            f"  {row.gpus} GPUs: loss={row.loss:.4f}, grad_norm={row.grad_norm:.4f}",
            number.fixed(row.corrected_grad_norm, 4),
        )
        for row in tables.data_parallel_table()
    ]
    left_out = tr(
        "Left out: the loss is a mean over batch and outputs, its gradient divides by the batch alone: "
        "16 times too large. Unequal shards weigh the same: 10 samples on 7 GPUs put the gradient {error} "
        "off; corrected, each shard weighs its samples.",
        error=number.percent(tables.uneven_shards_error(), 1),
    )
    return LessonTable("DATA PARALLELISM SIMULATION", tuple(lines), tr("the loss's own gradient"), left_out)


def _tensor_parallel(number: Numbers) -> LessonTable:
    lines = [
        Line(
            f"  {row.gpus} GPUs: output_shape={row.output_shape}, max_error={row.max_error:.2e}",
            f"{row.row_max_error:.2e}".replace(".", number.decimal),
        )
        for row in tables.tensor_parallel_table()
    ]
    left_out = tr(
        "Left out: a block is a matrix split by columns, then one split by rows. The columns need no "
        "communication; the rows' partial sums need one all-reduce, not one after each matmul, and rounding "
        "makes their error differ from zero."
    )
    return LessonTable("TENSOR PARALLELISM SIMULATION", tuple(lines), tr("error of the row half"), left_out)


def _pipeline(number: Numbers) -> LessonTable:
    lines = [
        Line(
            f"  {row.microbatches:2d} micro-batches: total_time={row.total_time:4d}, bubble={row.bubble:.1%}",
            f"{number.percent(row.corrected.bubble_over_ideal, 1):>8}"
            f"{number.percent(row.corrected.bubble_over_makespan, 1):>9}"
            f"{row.corrected.peak_1f1b:>5}",
        )
        for row in tables.pipeline_table()
    ]
    left_out = tr(
        "Left out: (N-1)/M is idle time over useful time (A), not the idle share of the step (B), which is "
        "(N-1)/(M+N-1). 1F1B has the same bubble and keeps at most N microbatches alive (last column), "
        "GPipe all M. Layers that do not divide are dropped without a word: 126 on 16 stages run as 112; "
        "corrected, they are refused."
    )
    head = f"{'A':>8}{'B':>9}{'1F1B':>5}"
    return LessonTable("PIPELINE PARALLELISM SIMULATION", tuple(lines), head, left_out)


def _memory(number: Numbers) -> LessonTable:
    head = f"{tr('real model'):>12}{tr('fits'):>8}"
    lines = [Line(f"  {'Model':>8} {'Sharding':>8} {'GPUs':>5} {'Per-GPU':>10} {'Fits 80GB':>10}", head)]
    lines.append(Line("  " + "-" * 50))
    for row in tables.memory_table():
        lesson, budget = row.lesson, row.budget
        needed = number.fixed(budget.peak.needed_bytes / 1e9) + " GB"
        fits = "Yes" if lesson["fits_on_80gb"] else "No"
        lines.append(
            Line(
                f"  {row.params_billions:>6}B {lesson['sharding']:>8} {lesson['num_gpus']:>5} "
                f"{lesson['per_gpu_total_gb']:>8.1f}GB {fits:>10}",
                f"{needed:>12}{tr(_YES if budget.fits else _NO):>8}",
            )
        )
    left_out = tr(
        "Left out: master weights; the sequence (activations are one byte a parameter); and what shrinks "
        "activations: tensor, context and pipeline parallelism, recompute. Corrected: {models} with one "
        "sequence of 2,048 tokens, fp32 weights and Adam, the allocator's reserve and NCCL at their high "
        "end, on H100s.",
        models=", ".join(tables.REAL_MODELS.values()),
    )
    return LessonTable("MEMORY CALCULATOR", tuple(lines), head, left_out)


def _precision(number: Numbers) -> LessonTable:
    lines = [
        Line(
            f"  {row.params_billions}B: FP32={row.lesson['fp32_total_gb']:.0f}GB, "
            f"Mixed BF16={row.lesson['mixed_bf16_gb']:.0f}GB, Savings={row.lesson['savings_vs_fp32']:.0%}",
            f"{number.fixed(row.corrected['mixed_gb'], 0) + ' GB':>12}"
            f"{number.percent(row.corrected['savings_vs_fp32']):>8}",
        )
        for row in tables.precision_table()
    ]
    left_out = tr(
        "Left out: the fp32 master weights in its own heading. With them mixed precision costs 16 bytes a "
        "parameter, as much as fp32: what it saves is time and activations."
    )
    head = f"{tr('with master'):>12}{tr('saved'):>8}"
    return LessonTable("MIXED PRECISION COMPARISON", tuple(lines), head, left_out)


_YES: Final = N_("yes")
_NO: Final = N_("no")
