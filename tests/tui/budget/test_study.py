"""The closer look: a step cut into cells, single changes, and a part taken apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.budget import BudgetState, closer_look
from scaletui.state.study import Cell, cells_of, study
from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.view.box import Box
from scaletui.view.budget_fixes import fix_items, fixes_rows
from scaletui.view.budget_legend import legend_rows, shares
from scaletui.view.budget_step import phase_row, step_rows
from scaletui.view.budget_terms import term_rows
from scaletui.view.pen import Pen
from scaletui.view.row import Row, row_width
from scaletui_engine.memory.budget import PARTS, Parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui.state.answer import Answer
    from scaletui.state.study import Study


@pytest.fixture(scope="module")
def near(small: Answer) -> Study:
    return study(small.scenario, 0)


@pytest.fixture(scope="module")
def far(wide: Answer) -> Study:
    return study(wide.scenario, 3)


@pytest.fixture
def looked(small: Answer, near: Study) -> BudgetState:
    return BudgetState(small, study=near)


def text(rows: Iterable[Row]) -> list[str]:
    """Rows without their roles."""
    return ["".join(span.text for span in row).rstrip() for row in rows]


@pytest.mark.parametrize("count", [1, 7, 50, 400])
def test_no_peak_is_lost_in_cells(near: Study, far: Study, count: int) -> None:
    for looked in (near, far):
        cells = cells_of(looked.step, count)
        assert len(cells) == count
        assert all(cell.amount > 0 for cell in cells)
        highest = looked.step.points[looked.step.peak]
        assert max(cells, key=lambda cell: cell.amount).amount == highest.parts.total


def test_the_step_peaks_where_the_budget_does(small: Answer, near: Study, wide: Answer, far: Study) -> None:
    for answer, looked in ((small, near), (wide, far)):
        stage = answer.budget.stages[looked.stage]
        assert looked.step.points[looked.step.peak].parts.total == stage.peak_bytes


def test_the_terms_of_a_part_add_up_to_it(small: Answer, near: Study) -> None:
    for part, amount in small.budget.stages[0].parts.items():
        assert sum(item.bytes for item in near.explanation.of(part)) == amount


def test_a_study_of_something_else_is_not_shown(looked: BudgetState, wide: Answer, far: Study) -> None:
    assert closer_look(looked) is looked.study
    assert closer_look(replace(looked, answer=wide)) is None
    assert closer_look(BudgetState(wide, stage=4, study=far)) is None
    assert closer_look(BudgetState(wide, stage=3, study=far)) is far


@pytest.mark.parametrize("pen", [Pen(UNICODE), Pen(ASCII)], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [40, 51, 80, 140])
def test_rows_are_exactly_as_wide_as_asked(looked: BudgetState, width: int, pen: Pen) -> None:
    for state in (looked, replace(looked, study=None)):
        for rows in (
            step_rows(state, Box(width, 5), pen),
            fixes_rows(state, Box(width, 6), pen),
            legend_rows(state, Box(width, 40), pen),
            *(tuple(term_rows(replace(state, part=part), width, pen)) for part in PARTS),
        ):
            assert {row_width(row) for row in rows} <= {width}


@pytest.mark.parametrize("height", [5, 13, 15, 16, 19, 30, 60])
def test_the_legend_never_outgrows_its_pane(looked: BudgetState, height: int) -> None:
    rows = legend_rows(looked, Box(60, height), Pen())
    assert len(rows) <= height
    assert len(rows) >= min(height, 13)


@pytest.mark.parametrize(
    ("left", "wanted", "shared"),
    [(0, 4, (0, 0)), (2, 4, (0, 0)), (4, 4, (4, 0)), (6, 4, (3, 3)), (30, 4, (16, 4)), (20, 12, (8, 12))],
)
def test_rows_are_shared_between_step_and_changes(left: int, wanted: int, shared: tuple[int, int]) -> None:
    assert shares(left, wanted) == shared


def test_a_step_names_its_peak_and_its_phases(looked: BudgetState) -> None:
    title, *_, phases = text(step_rows(looked, Box(80, 6), Pen(ASCII)))
    assert "one step of stage 0" in title
    assert "^ peak 40.0 GiB" in title
    assert phases.split() == ["forward", "^", "backward", "step"]


def test_short_passes_are_named_by_their_letters() -> None:
    """No row says "backward" twice and never "forward"."""
    cells = [
        Cell(1, phase, Parts())
        for phase in ("forward", "backward") * 2
        for _ in range(5 if phase == "forward" else 10)
    ]
    (found,) = text([phase_row(cells, 9, "^")])
    assert found.split() == ["F", "B", "^", "F", "B"]
    (found,) = text(
        [
            phase_row(
                [Cell(1, "forward", Parts())] * 5 + cells[5:] + [Cell(1, "forward", Parts())] * 9, 14, "^"
            )
        ]
    )
    assert found.split() == ["backward", "^", "backward", "forward"]


@pytest.mark.parametrize(
    ("peak", "row"),
    [
        (0, "^ forward   backward"),
        (3, "   ^        backward"),
        (8, "forward ^   backward"),
        (12, "forward     ^ backward"),
        (21, "forward     backward ^"),
    ],
)
def test_the_peak_is_marked_and_hides_no_letter(peak: int, row: str) -> None:
    cells = [Cell(1, "forward", Parts())] * 12 + [Cell(1, "backward", Parts())] * 12
    (found,) = text([phase_row(cells, peak, "^")])
    assert found == row


def test_a_plan_that_fits_lists_how_far_it_could_go(looked: BudgetState) -> None:
    title, *lines = text(fixes_rows(looked, Box(60, 6), Pen(ASCII)))
    assert "would also fit" in title
    assert [line.split()[1] for line in lines] == ["micro-batch", "sequence", "gpus"]


def test_a_plan_that_does_not_fit_lists_what_would_help(over: Answer) -> None:
    state = BudgetState(over, study=study(over.scenario, 0))
    title, *lines = text(fixes_rows(state, Box(70, 6), Pen(ASCII)))
    assert "would make it fit" in title
    assert lines[0].startswith(" y ")
    assert all("  -" in line for line in lines)


def test_the_list_to_choose_from_has_every_change(near: Study) -> None:
    items = fix_items(near, Pen())
    assert [item.id for item in items] == [str(index) for index in range(len(near.fixes))]
    assert all("GiB" in item.hint for item in items)


@pytest.mark.parametrize(("width", "named"), [(80, "^ peak 40.0 GiB: the loss"), (42, "^ 40.0 GiB")])
def test_a_peak_keeps_its_size_where_its_name_has_no_room(
    looked: BudgetState, width: int, named: str
) -> None:
    title, *_ = text(step_rows(looked, Box(width, 4), Pen(ASCII)))
    assert title.endswith(f" {named} -")
