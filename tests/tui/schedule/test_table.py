"""All schedules in one table: order, cursor, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.schedule import Question
from scaletui.state.schedule_table import Entry, Order, Table, entries, entry_of, grown, moved, turned
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.schedule_table import table_screen_rows
from scaletui_engine.schedule_rules import schedule_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario

A = Entry("gpipe", makespan=30, over_makespan=0.2, peak=4)
B = Entry("zb-v", makespan=40, over_makespan=0.1, peak=8)
C = Entry("1f1b", makespan=30, over_makespan=0.2, peak=2)
REFUSED = Entry("dualpipe", refusal="dualpipe needs microbatches (3) >= 2 x ranks (8)")


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (Order.BUBBLE, ["zb-v", "1f1b", "gpipe", "dualpipe"]),
        (Order.MEMORY, ["1f1b", "gpipe", "zb-v", "dualpipe"]),
    ],
)
def test_the_best_come_first_and_refusals_last(order: Order, names: list[str]) -> None:
    assert [entry.name for entry in Table((A, REFUSED, B, C), order).sorted] == names


def test_the_cursor_stays_on_its_schedule() -> None:
    table = moved(Table((A, C), name="gpipe"), -1)
    assert table.name == "1f1b"
    assert grown(table, B).chosen == C
    assert turned(grown(table, B)).chosen == C
    assert moved(table, -5) == table
    assert Table().chosen is None
    assert moved(Table(), 1) == Table()


def test_every_schedule_is_there_with_figures_or_a_reason(scenario: Callable[..., Scenario]) -> None:
    found = {entry.name: entry for entry in entries(Question(scenario("1f1b", 4, 8)))}
    assert set(found) == set(schedule_names())
    assert found["1f1b"].over_makespan == pytest.approx(3 / 11)
    assert found["interleaved-1f1b"].over_makespan == pytest.approx(1.5 / 9.5)
    assert all(entry.makespan > 0 or entry.refusal for entry in found.values())


def test_a_search_does_not_hold_up_a_large_table(scenario: Callable[..., Scenario]) -> None:
    question = Question(scenario("1f1b", 16, 512))
    assert entry_of(question, "zb-auto").refusal == "ranks x microbatches = 8192 > 4096"


@pytest.mark.parametrize("box", [Box(57, 15), Box(76, 21), Box(90, 45)], ids=str)
def test_rows(scenario: Callable[..., Scenario], box: Box) -> None:
    question = replace(Question(scenario()), beside=("gpipe",))
    rows = table_screen_rows("all", Table((A, B, C, REFUSED), name="1f1b"), question, (box, Pen()))
    assert {row_width(row) for row in rows} == {box.width}
    assert len(rows) == box.height
    lines = ["".join(span.text for span in row) for row in rows]
    assert lines[0].startswith("─ all: p 4  m 8 ")
    assert lines[3].startswith("▶● 1f1b ")
    assert [span.role for span in rows[3]] == ["cursor"]
    assert lines[4].startswith(" ● gpipe ")
    assert lines[5].startswith("   dualpipe  needs microbatches (3) >= 2 x ranks (8)")
    assert "4 of 25  by bubble" in lines[0]


def test_a_complete_table_counts_no_more(scenario: Callable[..., Scenario]) -> None:
    question = Question(scenario("1f1b", 4, 8))
    rows = table_screen_rows("all", Table(tuple(entries(question))), question, (Box(76, 40), Pen()))
    assert " of " not in "".join(span.text for span in rows[0])


@pytest.mark.parametrize(
    ("name", "height", "shown"),
    [
        ("InterleavedZeroBubble", 20, "1-13 of 25 ▼"),
        ("naive", 20, "13-25 of 25 ▲"),
        ("zb-auto", 16, "6-15 of 25 ▲▼"),
    ],
)
def test_a_list_that_is_longer_than_its_box_says_what_is_to_be_seen(
    scenario: Callable[..., Scenario], name: str, height: int, shown: str
) -> None:
    question = Question(scenario("1f1b", 4, 8))
    table = Table(tuple(entries(question)), name=name)
    rows = table_screen_rows("all", table, question, (Box(76, height), Pen()))
    title, _, *lines = ("".join(span.text for span in row) for row in rows)
    assert f"by bubble   {shown} " in title
    first, last = map(int, shown.split()[0].split("-"))
    names = [entry.name for entry in table.sorted[first - 1 : last]]
    assert [line[3:].split()[0] for line in lines[: len(names)]] == names
    assert lines[len(names)].startswith("─ what it does ")
