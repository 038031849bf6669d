"""Megatron-LM's strings, traces, pictures and plain text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from scaletui_engine.errors import DivisibilityError, ParseError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.gantt import gantt_lines
from scaletui_engine.schedule.interchange.chrome_trace import chrome_trace
from scaletui_engine.schedule.interchange.chunk_order import chunk_order, read_chunk_orders
from scaletui_engine.schedule.interchange.megatron_layout import layout_of, parse_layout, require_ranks
from scaletui_engine.schedule.interchange.svg import svg
from scaletui_engine.schedule.registry import schedule_names
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule


@pytest.mark.parametrize(
    ("text", "stages", "layers"),
    [
        ("Et*3|(tt|)*29,m|L", 32, 61),
        ("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL", 40, 80),
        ("Et*4|(tttt|)*14tmL", 16, 61),
        ("E|t|L", 3, 1),
        ("Et||tL", 3, 2),
        ("E t , t | t L", 2, 3),
    ],
    ids=["megatron-docs", "bridge-llama3-70b", "ms-swift", "ends-alone", "empty-stage", "blanks"],
)
def test_layout(text: str, stages: int, layers: int) -> None:
    layout = parse_layout(text)
    assert (len(layout.stages), layout.count("t"), sum(layout.layers)) == (stages, layers, layers)
    assert parse_layout(str(layout)) == layout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tt|tL", "has 0 E: wanted one, first of the first stage"),
        ("Et|t", "has 0 L: wanted one, last of the last stage"),
        ("Et|LL", "has 2 L"),
        ("EtL|t", "wanted one, last of the last stage"),
        ("Et|x|L", r"layout, column 4: 'x' in 'Et\|x\|L' is none of E t m L"),
        ("E(t|*3L", r"layout, column 2: '\('"),
        ("Et*999999|L", "expands to more than 100000 letters"),
        ("", "has 0 E"),
    ],
)
def test_what_is_no_layout(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_layout(text)


def test_layout_of_a_split() -> None:
    layout = layout_of((3, 2, 1))
    assert (str(layout), layout.layers) == ("Et*3|tt|tL", (3, 2, 1))
    with pytest.raises(DivisibilityError, match="layout has 3 stages, not a multiple of 2 pipeline ranks"):
        require_ranks(layout, 2)


def test_chunk_orders_come_back(make: Callable[..., Schedule]) -> None:
    schedule = make("interleaved-1f1b", 4, 8, 2)
    text = "\n".join(" ".join(map(str, chunk_order(schedule, rank))) for rank in range(4))
    again = read_chunk_orders(text)
    assert check(again) == ()
    assert [row.tolist() for row in again.rows] == [row.tolist() for row in schedule.rows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 -1", "line 1, column 2: '0' is not a signed chunk"),
        ("1 x", "line 1, column 2: 'x'"),
        ("\n", "no order"),
    ],
)
def test_what_is_no_chunk_order(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_chunk_orders(text)


def test_a_split_backward_has_no_sign(make: Callable[..., Schedule]) -> None:
    with pytest.raises(ParseError, match="zb-h1: I has no sign in a chunk order"):
        chunk_order(make("zb-h1", 2, 4), 0)


@pytest.mark.parametrize("name", ["1f1b", "zb-v", "dualpipe"])
def test_chrome_trace(name: str, make: Callable[..., Schedule]) -> None:
    timeline = simulate(make(name, 4, 8), uniform(1, 1, 1, 0.5))
    trace = json.loads("".join(chrome_trace(timeline)))
    events = trace["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    assert len(bars) == (~timeline.table.joined).sum()
    assert max(bar["ts"] + bar["dur"] for bar in bars) == timeline.makespan * 1000
    sent, received = ([event for event in events if event["ph"] == phase] for phase in "sf")
    assert [event["id"] for event in sent] == [event["id"] for event in received]
    assert all(one["ts"] <= other["ts"] for one, other in zip(sent, received, strict=True))
    assert {event["ph"] for event in events} == {"M", "X", "s", "f", "C"}


@pytest.mark.parametrize("name", schedule_names())
def test_svg_is_well_formed_and_draws_every_action(name: str, make: Callable[..., Schedule]) -> None:
    timeline = simulate(make(name, 4, 8))
    root = ElementTree.fromstring(svg(timeline, f"{name} <4 x 8> & more"))
    titles = [str(element.text) for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert sorted(titles) == sorted(str(timeline.table.action(i)) for i in range(len(timeline.start)))
    for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(rect.get("x", "0")) + float(rect.get("width", "0")) <= 1200


def test_gantt_with_names(make: Callable[..., Schedule]) -> None:
    assert gantt_lines(simulate(make("1f1b", 4, 4)), 80) == (
        "r0 F0F1F2F3............B0--..B1--..B2--..B3--",
        "r1 ..F0F1F2........B0--F3B1--..B2--..B3--....",
        "r2 ....F0F1....B0--F2B1--F3B2--..B3--........",
        "r3 ......F0B0--F1B1--F2B2--F3B3--............",
    )


def test_gantt_of_pairs(make: Callable[..., Schedule]) -> None:
    assert gantt_lines(simulate(make("dualpipev", 2, 4)), 80)[1] == (
        "r1 ..F0F0F1F1F2B0--F2&B0-F3&B1-F3&B1-B2--B2--..I3I3W3W3"
    )


@pytest.mark.parametrize(("ranks", "microbatches", "columns"), [(4, 8, 40), (16, 64, 120), (64, 512, 100)])
def test_gantt_without_room_shows_what_prevails(
    ranks: int, microbatches: int, columns: int, make: Callable[..., Schedule]
) -> None:
    lines = gantt_lines(simulate(make("1f1b", ranks, microbatches)), columns)
    assert len(lines) == ranks
    assert max(map(len, lines)) <= columns
    assert set("".join(line.split(" ", 1)[1] for line in lines)) <= set("FB. ")


def test_gantt_numbers_beyond_nine_fit_in_base_36(make: Callable[..., Schedule]) -> None:
    timeline = simulate(make("gpipe", 1, 12))
    assert gantt_lines(timeline, 80)[0].startswith("r0 F0F1F2F3F4F5F6F7F8F9FaFbBb--Ba--B9--")
    assert gantt_lines(timeline, 160)[0].startswith("r0 F0-F1-F2-F3-F4-F5-F6-F7-F8-F9-F10F11B11---B10---")
