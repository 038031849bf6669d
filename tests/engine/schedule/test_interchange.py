"""Megatron-LM's strings, traces, pictures and plain text."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from scaletui_engine.edit.fields import parse_value
from scaletui_engine.errors import DivisibilityError, ParseError, ScenarioError
from scaletui_engine.scenarios import load_scenario
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.estimate.from_layout import dealt, layered, scenario_layout
from scaletui_engine.schedule.estimate.from_scenario import estimate
from scaletui_engine.schedule.gantt import gantt_lines
from scaletui_engine.schedule.interchange.chrome_trace import chrome_trace
from scaletui_engine.schedule.interchange.chunk_order import chunk_order, read_chunk_orders
from scaletui_engine.schedule.interchange.megatron_layout import layout_of, parse_layout, require_ranks
from scaletui_engine.schedule.interchange.svg import svg
from scaletui_engine.schedule.registry import schedule_names
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import Times, uniform

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


def test_a_layout_is_written_as_short_as_it_was() -> None:
    assert str(parse_layout(" Et*3 | (tt|)*29 m | L ")) == "Et*3|(tt|)*29,m|L"
    assert str(parse_layout("E|t|t|t|L")) == "E|(t|)*3,L"


@pytest.mark.parametrize("layers", product(range(3), repeat=5), ids=str)
def test_any_split_comes_back(layers: tuple[int, ...]) -> None:
    assert parse_layout(str(layout_of(layers))).layers == layers


def test_a_layout_gives_stages_the_times_of_their_layers() -> None:
    times = layered(Times((2.0,), (1.0,), (0.5,), comm=(0.25,)), parse_layout("E|t*3|tm|L"))
    assert (times.forward, times.input_grad) == ((0, 6, 4, 0), (0, 3, 2, 0))
    assert (times.weight_grad, times.backward, times.comm) == ((0, 1.5, 1, 0), None, (0.25,))
    own = layered(Times((1.0, 2.0), backward=(3.0,)), parse_layout("Ett|tL"))
    assert (own.forward, own.backward) == ((1, 2), (6, 3))


def test_a_scenario_takes_a_layout_and_tells_its_own() -> None:
    scenario = load_scenario("llama3-405b-16384")
    assert str(scenario_layout(scenario)) == "Et*7|(t*8|)*14,t*7L"
    found = dealt(scenario, parse_layout("E|(t*9|)*14,L"))
    assert (found.plan.layer_split, found.plan.chunks) == ((0, *(9,) * 14, 0), 1)
    times = estimate(found).request.times
    assert times.forward[0] == 0 < times.forward[15] < times.forward[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Et*7|(t*8|)*14,t*8L", "layout holds 127 decoder layers, but the model has 126"),
        ("Et*63|t*63L", "layout has 2 stages, not a multiple of 16 pipeline ranks"),
        ("Et*3|(t*4|)*30,t*3L", "1f1b needs chunks <= 1, but chunks = 2"),
    ],
)
def test_a_layout_that_is_not_the_scenarios(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        dealt(load_scenario("llama3-405b-16384"), parse_layout(text))


def test_a_layout_is_a_split_wherever_one_is_typed() -> None:
    assert parse_value("layer_split", "Et*7|(t*8|)*2,t*7L") == (7, 8, 8, 7)
    with pytest.raises(ParseError, match="layout, column 4: 'x'"):
        parse_value("layer_split", "Et|x|tL")


def test_layout_of_a_split() -> None:
    layout = layout_of((3, 2, 1))
    assert (str(layout), layout.layers) == ("Et*3|tt|tL", (3, 2, 1))
    assert str(layout_of((7, *(8,) * 14, 7))) == "Et*7|(t*8|)*14,t*7L"
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
