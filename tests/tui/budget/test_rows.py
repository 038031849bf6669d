"""The rows of the budget screen: exact widths everywhere, and the texts that answer its question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.answer import answer
from scaletui.state.budget import BudgetState, answered
from scaletui.state.editing import Editing, opened, typed
from scaletui.text.glyphs import ASCII, MONO, UNICODE
from scaletui.text.language import set_language
from scaletui.text.numbers import numbers_for
from scaletui.view.box import Box
from scaletui.view.budget_answer import answer_rows
from scaletui.view.budget_big import big_parts_rows, largest
from scaletui.view.budget_details import details_rows
from scaletui.view.budget_explain import explain_rows
from scaletui.view.budget_parts import parts_rows
from scaletui.view.budget_stages import stage_rows, window
from scaletui.view.pen import Pen
from scaletui.view.plan import plan_rows
from scaletui.view.row import Row, row_width
from scaletui_engine.edit import step
from scaletui_engine.memory.budget import PARTS, ByteRange, MemoryBudget, Parts, StageBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.answer import Answer

PENS = [Pen(UNICODE), Pen(MONO), Pen(ASCII), Pen(UNICODE, numbers_for("pt-BR")), Pen(UNICODE, big=True)]


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    set_language("en")
    yield
    set_language("en")


def text(rows: Sequence[Row]) -> list[str]:
    """Rows without their roles, blanks at the right cut."""
    return ["".join(span.text for span in row).rstrip() for row in rows]


def drawn(state: BudgetState, box: Box, pen: Pen) -> list[Row]:
    """Every view of the screen."""
    scenario = state.answer.scenario if state.answer else None
    assert scenario is not None
    return [
        *answer_rows(state, box.width, pen),
        *stage_rows(state, box, pen),
        *parts_rows(state, box.width, pen),
        *big_parts_rows(state, box, pen),
        *details_rows(state, box, pen),
        *plan_rows(Editing(scenario), box, pen, focus=True),
        *(row for part in PARTS for row in explain_rows(replace(state, part=part), box, pen)),
    ]


@pytest.mark.parametrize("pen", PENS, ids=["unicode", "mono", "ascii", "pt-BR", "big"])
@pytest.mark.parametrize("width", [20, 28, 36, 52, 80, 120, 200])
def test_every_row_is_exactly_as_wide_as_asked(
    small: Answer, wide: Answer, over: Answer, pen: Pen, width: int
) -> None:
    for found in (small, wide, over):
        state = answered(BudgetState(small), found)
        for row in drawn(state, Box(width, 12), pen):
            assert row_width(row) == width, text([row])


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_ascii_says_everything_in_ascii_but_for_the_words(wide: Answer, language: str) -> None:
    set_language(language)
    pen = Pen(ASCII, numbers_for(language))
    rows = drawn(BudgetState(wide), Box(100, 20), pen)
    if language == "en":
        assert all(line.isascii() for line in text(rows))
    assert not set("".join(text(rows))) & set("─│┃▶●‹›▲▼…×█░▒▓")


def test_a_plan_that_fits_says_so_first(small: Answer) -> None:
    (line,) = text(answer_rows(BudgetState(small), 120, Pen(ASCII)))
    free = small.budget.headroom_bytes / 2**30
    assert line.startswith(f" y fits, {free:.1f} GiB free")
    assert f"of {small.budget.capacity_bytes / 2**30:.1f} GiB" in line


def test_a_plan_that_does_not_fit_names_the_stage(over: Answer) -> None:
    row = answer_rows(BudgetState(over), 80, Pen(ASCII))[0]
    beyond = -over.budget.headroom_bytes / 2**30
    assert text([row])[0].startswith(f" ! over by {beyond:.1f} GiB on stage 0")
    assert row[0].role == "error"


@pytest.mark.parametrize(
    ("capacity", "words", "role"),
    [
        (5, "fits, 0.0 GiB free   needs 5.0 of 5.0 GiB", "ok"),
        (4, "may be over, by up to 1.0 GiB on stage 0   needs 4.0 to 5.0 of 4.0 GiB", "warn"),
        (3, "over by 2.0 GiB on stage 0   needs 5.0 of 3.0 GiB", "error"),
    ],
)
def test_a_likely_figure_that_fits_is_neither_yes_nor_no(
    small: Answer, capacity: int, words: str, role: str
) -> None:
    gib = 2**30
    reserved, outside = ByteRange(2 * gib, 4 * gib, "", 3 * gib), ByteRange(gib, gib, "")
    stage = StageBudget(0, "step", Parts(weights=2 * gib), reserved, outside)
    budget = MemoryBudget((stage,), capacity * gib, capacity_is_nominal=False, assumptions=())
    for pen in (Pen(ASCII), Pen(UNICODE)):
        row = answer_rows(BudgetState(replace(small, budget=budget)), 120, pen)[0]
        assert words in text([row])[0]
        assert row[0].role == role


def test_before_the_first_answer_the_line_says_so() -> None:
    assert text(answer_rows(BudgetState(), 40, Pen())) == [" counting ..."]


def test_the_legend_has_the_same_lines_whatever_is_zero(small: Answer, wide: Answer) -> None:
    heads = [
        [line[4:18].strip() for line in text(parts_rows(BudgetState(found), 52, Pen()))[1:-1]]
        for found in (small, wide)
    ]
    assert heads[0] == heads[1]
    assert heads[0][:3] == ["weights", "gradients", "optimizer"]
    assert heads[0][-3:] == ["allocated", "reserved", "driver"]


def test_the_change_is_signed_and_takes_the_place_of_the_formula(small: Answer) -> None:
    after = answered(BudgetState(small), answer(step(small.scenario, "gpus", 1)))
    lines = text(parts_rows(after, 52, Pen()))
    assert "change" in lines[0]
    assert lines[1].split()[-1].startswith("-")
    wider = text(parts_rows(after, 90, Pen()))
    assert "change" in wider[0]
    assert "of what" in wider[0]


def test_the_chosen_stage_is_among_the_bars_of_a_short_pane(wide: Answer) -> None:
    lines = text(stage_rows(BudgetState(wide, stage=9), Box(80, 5), Pen(ASCII)))
    assert len(lines) == 5
    assert any(line.startswith(" stage 9 ") for line in lines)
    assert "^" in lines[0]
    assert "v" in lines[-1][:12]


@pytest.mark.parametrize(
    ("count", "chosen", "room", "shown"),
    [(16, 0, 5, (0, 5)), (16, 9, 5, (7, 12)), (16, 15, 5, (11, 16)), (3, 1, 9, (0, 3)), (0, 0, 4, (0, 1))],
)
def test_the_window_keeps_the_chosen_one_in_view(
    count: int, chosen: int, room: int, shown: tuple[int, int]
) -> None:
    first, last = window(count, chosen, room)
    assert (first, last) == shown or count == 0


def test_the_field_that_is_typed_shows_its_text(small: Answer) -> None:
    editing = typed(opened(Editing(small.scenario)), "16")
    lines = text(plan_rows(editing, Box(28, 20), Pen(ASCII), focus=True))
    assert any(line.startswith(">gpus") and line.endswith("16") for line in lines)


def test_without_focus_no_field_is_marked(small: Answer) -> None:
    lines = text(plan_rows(Editing(small.scenario), Box(28, 22), Pen(ASCII), focus=False))
    assert not [line for line in lines[1:] if line.startswith(">")]


def test_a_short_plan_says_that_there_is_more(small: Answer) -> None:
    title, *fields = text(plan_rows(Editing(small.scenario, "seq"), Box(28, 8), Pen(ASCII), focus=True))
    assert len(fields) == 7
    assert "^ -" in title
    title, *_ = text(plan_rows(Editing(small.scenario, "tp"), Box(28, 8), Pen(ASCII), focus=True))
    assert "^ v -" in title


@pytest.mark.parametrize("part", PARTS)
def test_an_explanation_ends_in_what_was_counted(small: Answer, part: str) -> None:
    lines = text(explain_rows(BudgetState(small, part=part), Box(46, 20), Pen()))
    amount = getattr(small.budget.stages[0].parts, part) / 2**30
    assert any(line.startswith(" counted") and line.endswith(f"{amount:.2f} GiB") for line in lines)


def test_details_name_ranges_and_assumptions(wide: Answer) -> None:
    lines = text(details_rows(BudgetState(wide), Box(46, 40), Pen()))
    assert len([line for line in lines if line[1:3].strip().isdigit()]) == 16
    assert any("reserved" in line and " to " in line for line in lines)
    assert any("the driver reports" in line for line in lines)


def test_big_figures_show_the_largest_parts_and_the_sum_of_the_others(small: Answer) -> None:
    from scaletui.state.budget import part_lines

    lines = part_lines(BudgetState(small))
    kept, rest = largest(lines, 2)
    assert [line.part for line in kept] == ["optimizer", "activations"]
    assert rest + sum(line.amount for line in kept) == sum(line.amount for line in lines)
