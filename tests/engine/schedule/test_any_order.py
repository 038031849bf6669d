"""Any order at all: it runs, or one sentence says why not; never a hang, never another error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.interchange.chunk_order import read_chunk_orders
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.interchange.megatron_layout import parse_layout
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.modes.transport import Transport, simulate_transport
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build
from scaletui_engine.schedule.result import result_of
from scaletui_engine.schedule.schedule import Schedule, frozen_rows
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.times import uniform

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
NAMES = ("gpipe", "1f1b", "zb-h2", "interleaved-1f1b", "zb-v", "dualpipe", "looped-bfs")


def _outcome(schedule: Schedule, transport: Transport = Transport.ASYNC) -> str:
    """What a person reads: a makespan, or a refusal of one line."""
    try:
        result = result_of(simulate_transport(schedule, uniform(1, 1, 1, 0.5), transport))
    except ScenarioError as refusal:
        return str(refusal)
    assert check(schedule) == ()
    assert result.timeline.makespan > 0
    return f"{result.timeline.makespan:g}"


def _tried(do: Callable[[], T]) -> tuple[T | None, str]:
    """What it gives, or the refusal."""
    try:
        return do(), ""
    except ScenarioError as refusal:
        return None, str(refusal)


def _one_line(text: str) -> bool:
    return bool(text) and "\n" not in text


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(NAMES), st.randoms(use_true_random=False), st.sampled_from(list(Transport)))
def test_shuffled_rows(name: str, random: object, transport: Transport) -> None:
    schedule = build(
        Request(name, Shape(2, 4, 2 if name in ("interleaved-1f1b", "zb-v", "looped-bfs") else 1))
    )
    rows = [row.tolist() for row in schedule.rows]
    for row in rows:
        swaps = random.randint(0, 2)  # type: ignore[attr-defined]
        for _ in range(swaps):
            i, j = (random.randrange(len(row)) for _ in range(2))  # type: ignore[attr-defined]
            row[i], row[j] = row[j], row[i]
    assert _one_line(_outcome(replace(schedule, rows=frozen_rows(rows)), transport))


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(NAMES), st.randoms(use_true_random=False), st.sampled_from(list(Transport)))
def test_shuffled_messages(name: str, random: object, transport: Transport) -> None:
    schedule = build(
        Request(name, Shape(2, 4, 2 if name in ("interleaved-1f1b", "zb-v", "looped-bfs") else 1))
    )
    rows = [row.tolist() for row in lower(schedule, Passes(fsdp=False)).rows]
    for row in rows:
        i, j = (random.randrange(len(row)) for _ in range(2))  # type: ignore[attr-defined]
        row[i], row[j] = row[j], row[i]
    assert _one_line(_outcome(replace(schedule, rows=frozen_rows(rows)), transport))


CELLS = st.builds(
    "{}{}{}".format,
    st.integers(0, 3),
    st.sampled_from(["F", "I", "W", "B", "BW", "SEND_F", "RECV_F", "UNSHARD"]),
    st.sampled_from(["", "0", "1", "2"]),
)
FILES = st.lists(st.lists(CELLS | st.just(""), max_size=8).map(",".join), max_size=4).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(FILES | st.text(alphabet="0123FIWBSENDRCV_();,\n \x00", max_size=60) | st.text(max_size=40))
def test_files_of_cells(text: str) -> None:
    found, refusal = _tried(lambda: read_csv(text, replicas=True))
    assert (found is None) == _one_line(refusal)
    if found is not None and _one_line(_outcome(found.schedule)) and not check(found.schedule):
        again = read_csv("\n".join(csv_lines(found.schedule)), replicas=True).schedule
        assert list(csv_lines(again)) == list(csv_lines(found.schedule))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="Etm L|()*,0123456789", max_size=30) | st.text(max_size=20))
def test_layouts(text: str) -> None:
    layout, refusal = _tried(lambda: parse_layout(text))
    assert (layout is None) == _one_line(refusal)
    assert layout is None or parse_layout(str(layout)) == layout


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="12-+ \n", max_size=30))
def test_chunk_orders(text: str) -> None:
    schedule, refusal = _tried(lambda: read_chunk_orders(text))
    assert (schedule is None) == _one_line(refusal)
    assert schedule is None or _one_line(_outcome(schedule))
