"""Rows of the sharding screen: what each size, glyph set and switch shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.picking import typed
from scaletui.state.sharding_find import finding, taken
from scaletui.state.sharding_look import Look, next_order, next_part, settled, walked
from scaletui.text.glyphs import ASCII
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.sharding_mesh import mesh_rows
from scaletui.view.sharding_tensor import tensor_rows
from scaletui.view.sharding_traffic import traffic_pane
from scaletui.view.sharding_words import answer_row, cursor_rows, details_rows, ranks_text
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.orders import Order
from scaletui_engine.sharding.part import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaletui.state.sharding_sight import Sight
    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario

    Make = Callable[..., Scenario]
    See = Callable[..., Sight]

PEN = Pen()


def text(row: Row) -> str:
    return "".join(span.text for span in row).rstrip()


def texts(rows: Sequence[Row]) -> list[str]:
    return [text(row) for row in rows]


def everything(sight: Sight, box: Box, pen: Pen = PEN) -> list[Row]:
    return [
        answer_row(sight, box.width, pen),
        *tensor_rows(sight, box, pen, focus=True),
        *mesh_rows(sight, box, pen),
        *cursor_rows(sight, box.width, pen),
        *traffic_pane(sight, box, pen),
        *details_rows(sight, box, pen),
    ]


@pytest.mark.parametrize(
    ("options", "look", "answer"),
    [
        ({"tp": 2}, {}, "layers.[0-31].attention.wq 4096×4096  tp,fsdp S(0)  8.0 MiB a rank  all NVLink"),
        ({"strategy": Strategy.DDP}, {"layer": 3}, "layers.3.attention.wq 4096×4096  whole on every rank"),
        ({"strategy": Strategy.ZERO3}, {}, "runs / 8"),
        ({"gpus": 16}, {}, "network: dp"),
        ({"tp": 2}, {"part": Part.OPTIMIZER}, "16.0 MiB a rank"),
    ],
    ids=["tp and fsdp", "ddp", "zero-3", "two nodes", "two moments of 4 bytes"],
)
def test_the_answer(
    scenario: Make, sight: See, options: dict[str, object], look: dict[str, object], answer: str
) -> None:
    assert answer in text(answer_row(sight(scenario(**options), **look), 110, PEN))


def test_a_tile_for_each_owner(scenario: Make, sight: See) -> None:
    shown = texts(tensor_rows(sight(scenario(tp=2), rank=3), Box(40, 12), PEN, focus=True))
    assert [line.split()[0] for line in shown[3:11]] == [str(512 * tile) for tile in range(8)]
    assert "[r3  tp 1 dp 1]" in shown[8]


def test_padding_is_hatched(scenario: Make, sight: See) -> None:
    look = {"parameter": "layers.{layer}.router"}
    shown = texts(tensor_rows(sight(scenario("mixtral-8x7b", 24), **look), Box(40, 14), PEN, focus=True))
    assert "╱╱padding╱╱" in "".join(shown)


@pytest.mark.parametrize(
    ("rank", "marks"),
    [(3, "node 0 0 1d 2t [3] 4 5d 6 7d"), (0, "node 0 [0] 1t 2d 3 4d 5 6d 7")],
)
def test_the_groups_of_the_rank_are_lit(scenario: Make, sight: See, rank: int, marks: str) -> None:
    shown = texts(mesh_rows(sight(scenario(tp=2), rank=rank), Box(40, 12), PEN))
    assert shown[2].split() == marks.split()


def test_the_same_slice_is_marked(scenario: Make, sight: See) -> None:
    shown = texts(mesh_rows(sight(scenario(strategy=Strategy.DDP), rank=1), Box(60, 12), PEN))
    assert [word for word in shown[2].split() if "=" in word] == ["0=", "2=", "3=", "4=", "5=", "6=", "7="]


@pytest.mark.parametrize(("tp", "warns"), [(8, False), (16, True)])
def test_tp_that_leaves_the_domain_is_said(scenario: Make, sight: See, tp: int, warns: bool) -> None:
    shown = "\n".join(texts(mesh_rows(sight(scenario(gpus=16, tp=tp)), Box(60, 12), PEN)))
    assert ("tp leaves the NVLink domain: 1 of 1 groups" in shown) is warns


def test_density_beyond_the_screen(scenario: Make, sight: See) -> None:
    plan = scenario("llama3.1-405b", 16384, tp=8, pp=2)
    shown = texts(mesh_rows(sight(plan, rank=9000), Box(40, 12), PEN))
    assert any(line.endswith("@ t t t t t t t") for line in shown)
    assert any("node 1125" in line for line in shown)


@pytest.mark.parametrize(
    ("options", "rank", "words"),
    [
        ({"tp": 2}, 3, "rank 3: dp_shard 1, tp 1; node 0"),
        ({"tp": 2}, 3, "holds [2560:3072, 0:4096]: 8.0 MiB"),
        ({"tp": 2}, 3, "held by nobody else; no rank is empty"),
        ({"strategy": Strategy.DDP}, 0, "7 replicas: ranks 1, 2, 3, 4, 5, 6, ..."),
        ({"strategy": Strategy.ZERO3}, 1, "elements 2097152:4194304"),
    ],
)
def test_the_cursor_tells(
    scenario: Make, sight: See, options: dict[str, object], rank: int, words: str
) -> None:
    assert words in "\n".join(texts(cursor_rows(sight(scenario(**options), rank=rank), 90, PEN)))


def test_a_rank_of_another_stage_is_told_where_the_layer_is(scenario: Make, sight: See) -> None:
    found = sight(scenario(gpus=16, pp=2), rank=9, layer=0)
    assert "holds nothing: the parameter is on pipeline stage 0" in "\n".join(
        texts(cursor_rows(found, 90, PEN))
    )


@pytest.mark.parametrize(
    ("implemented", "title"),
    [
        (True, "traffic of one step, as torch 2.13 sends it"),
        (False, "traffic of one step, as papers count it"),
    ],
)
def test_traffic_two_ways(scenario: Make, sight: See, implemented: bool, title: str) -> None:
    found = sight(scenario(tp=2), implemented=implemented)
    shown = texts(traffic_pane(found, Box(100, 40), PEN))
    assert title in shown[0]
    assert found.traffic is not None
    rows = found.traffic.implemented if implemented else found.traffic.paper
    assert len(shown) == 2 + len(rows)


def test_traffic_that_does_not_fit_is_counted(scenario: Make, sight: See) -> None:
    found = sight(scenario(tp=2))
    shown = texts(traffic_pane(found, Box(80, 5), PEN))
    assert found.traffic is not None
    assert shown[-1] == f" {len(found.traffic.implemented) - 2} more: t"


@pytest.mark.parametrize("size", [(30, 8), (39, 12), (80, 20), (110, 30)])
@pytest.mark.parametrize("gpus", [1, 8, 64])
def test_rows_are_as_wide_as_they_were_asked_for(
    scenario: Make, sight: See, size: tuple[int, int], gpus: int
) -> None:
    rows = everything(sight(scenario(gpus=gpus)), Box(*size))
    assert {row_width(row) for row in rows} == {size[0]}


def test_ascii_is_ascii(scenario: Make, sight: See) -> None:
    plan = scenario("mixtral-8x7b", 24)
    rows = everything(sight(plan, parameter="layers.{layer}.router"), Box(60, 16), Pen(ASCII))
    assert "\n".join(texts(rows)).isascii()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("rank 12345", "rank:12345"),
        ("r7", "rank:7"),
        ("16384", "tensor::layers.{layer}.attention_norm"),
        ("layers.31.attention.wq", "tensor:31:layers.{layer}.attention.wq"),
        ("output", "tensor::output"),
    ],
)
def test_finding(scenario: Make, query: str, first: str) -> None:
    plan = scenario("llama3.1-405b", 16384, tp=8, pp=2)
    found = typed(finding(plan, Part.WEIGHTS), query).found
    if query == "16384":
        assert not [item for item in found if item.id.startswith("rank:")]
    else:
        assert found[0].id == first


def test_looks(scenario: Make) -> None:
    plan = scenario(gpus=16, pp=2)
    axes = plan.plan.axes
    look = settled(Look(rank=99, layer=77), plan)
    assert (look.parameter, look.rank, look.layer) == ("layers.{layer}.attention.wq", 15, None)
    assert walked(look, plan, -99).parameter == "tok_embeddings"
    parts = [part for part in Part if part is not Part.SECONDARY]
    assert [next_part(Look(part=part), plan).part for part in parts] == [*parts[1:], Part.WEIGHTS]
    assert next_order(Look(rank=8, order=Order.DEEPSPEED), axes).rank == 1
    assert taken(look, "rank:3").rank == 3
    assert taken(look, "tensor:4:output").layer == 4


@pytest.mark.parametrize(
    ("ranks", "shown"), [((3, 4, 5, 9), "3-5, 9"), ((), ""), (range(0, 16, 2), "0, 2, 4, 6, 8, 10, ...")]
)
def test_ranks_are_told_as_runs(ranks: Sequence[int], shown: str) -> None:
    assert ranks_text(ranks) == shown
