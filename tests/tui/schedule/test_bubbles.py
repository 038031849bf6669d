"""The bubble's four definitions on a row each, on one row and in a rule; and where a schedule cannot run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from scaletui.state.schedule import Messages, Unit
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.schedule import CURSOR, below_rows
from scaletui.view.schedule_bubble import bubble_row
from scaletui.view.schedule_layout import PANEL
from scaletui.view.schedule_names import schedule_sentence
from scaletui.view.schedule_times import range_text
from scaletui_engine.schedule.registry import schedule_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.schedule_sight import Sight
    from scaletui.view.row import Row

    MakeSight = Callable[..., Sight]

PEN = Pen()
NOTE = "not for PyTorch's runtime, which wants one rank a stage; dualpipev runs there"


def text(row: Row) -> str:
    return "".join(span.text for span in row).rstrip()


@pytest.mark.parametrize(
    ("least", "most", "unit", "shown"),
    [
        (9, 9, Unit.STEPS, "9"),
        (9, 12.5, Unit.STEPS, "9-12.5"),
        (0, 70, Unit.STEPS, "0-70"),
        (0.299, 0.994, Unit.SECONDS, "0.299-0.994 s"),
        (0.0989, 0.795, Unit.SECONDS, "98.9 ms-0.795 s"),
        (0, 0.406, Unit.SECONDS, "0-0.406 s"),
        (0.25, 0.25, Unit.SECONDS, "0.250 s"),
        (0, 0, Unit.SECONDS, "0 s"),
        (3660, 7980, Unit.SECONDS, "1 h 01 m-2 h 13 m"),
    ],
)
def test_two_times_name_their_unit_once(least: float, most: float, unit: Unit, shown: str) -> None:
    assert range_text(least, most, unit, PEN) == shown


@pytest.mark.parametrize("messages", Messages)
@pytest.mark.parametrize("name", ["1f1b", "zb-h1", "zb-v", "naive"])
@pytest.mark.parametrize("ranks", [4, 16])
def test_one_row_ends_in_all_of_d(ranks: int, name: str, messages: Messages, make_sight: MakeSight) -> None:
    """In seconds D is two figures with their units: names give way, no figure is cut."""
    sight = make_sight(name, ranks=ranks, microbatches=32, unit=Unit.SECONDS, messages=messages)
    line = text(bubble_row(sight, 80, PEN))
    most = PEN.numbers.seconds(max(sight.own.bubble.per_rank))
    assert line.endswith(most)
    assert [part[0] for part in re.findall(r"  ([A-D]\S*) ", line)] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("name", ["dualpipe", "dualpipev", "1f1b"])
@pytest.mark.parametrize("rows", [1, 2, 4, 6, 2 + CURSOR + PANEL])
def test_a_stage_on_two_ranks_says_where_it_cannot_run(name: str, rows: int, make_sight: MakeSight) -> None:
    """Beneath the cursor's words, above the bubble, where the cursor has all its rows."""
    sight = make_sight(name, chunks=2 if name == "dualpipev" else 1)
    shown = [text(row) for row in below_rows(sight, 11, Box(80, rows), PEN)]
    assert (f"  {NOTE}" in shown) == (name == "dualpipe" and rows >= 2 + CURSOR + 1)
    assert len(shown) == rows


@pytest.mark.parametrize("name", schedule_names())
def test_the_words_about_a_schedule_say_it_too(name: str) -> None:
    assert (f"N{NOTE[1:]}." in schedule_sentence(name)) == (name == "dualpipe")
