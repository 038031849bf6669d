"""Rows of the sharding screen: what each size, glyph set and switch shows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from scaletui.state.picking import typed
from scaletui.state.sharding_find import finding, taken
from scaletui.state.sharding_look import Look, next_order, next_part, settled, walked
from scaletui.state.sharding_nodes import node_lines
from scaletui.text.glyphs import ASCII, UNICODE, Glyphs
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.sharding_mesh import mesh_rows, rank_at
from scaletui.view.sharding_tensor import spot_at, tensor_rows
from scaletui.view.sharding_traffic import row_at, traffic_pane
from scaletui.view.sharding_words import answer_row, cursor_rows, details_rows, ranks_text
from scaletui_engine.plan import Split, Strategy
from scaletui_engine.runtime import Framework, Runtime
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
EXPERT = "layers.{layer}.experts.{expert}.w1"


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
        ({"gpus": 1}, {}, "nothing is sent"),
        ({"tp": 2}, {"part": Part.OPTIMIZER}, "16.0 MiB a rank"),
    ],
    ids=["tp and fsdp", "ddp", "zero-3", "two nodes", "one gpu", "two moments of 4 bytes"],
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
    assert ("tp leaves NVLink: 1 of 1 groups" in shown) is warns


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
        ({"gpus": 1}, 0, "rank 0, the only one"),
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


@pytest.mark.parametrize("order", list(Order))
def test_traffic_is_that_of_the_stage_of_the_rank(scenario: Make, sight: See, order: Order) -> None:
    """The embedding is on the first of four stages, the loss on the last."""
    plan = scenario(tp=2, pp=4)
    stages = []
    for rank in range(8):
        found = sight(plan, rank=rank, order=order)
        assert found.traffic is not None
        sent = {row.call.what for row in found.rows}
        assert ("embedding" in sent, "loss" in sent) == (found.rank < 2, found.rank >= 6)
        stages.append(found.traffic.stage_rank)
    assert sorted(stages) == [0, 0, 1, 1, 2, 2, 3, 3]


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
        ("16384", ""),
        ("37", "rank:37"),
        ("layers.31.attention.wq", "tensor:31:layers.{layer}.attention.wq"),
        ("output", "tensor::output"),
    ],
)
def test_finding(scenario: Make, query: str, first: str) -> None:
    plan = scenario("llama3.1-405b", 16384, tp=8, pp=2)
    found = typed(finding(plan, Part.WEIGHTS), query).found
    if query == "16384":
        assert found == ()
    else:
        assert found[0].id == first


def test_a_number_alone_is_a_rank_and_then_a_layer(scenario: Make) -> None:
    found = typed(finding(scenario("llama3.1-405b", 16384, tp=8, pp=2), Part.WEIGHTS), "37").found
    assert found[0].id == "rank:37"
    assert len(found) > 2
    assert all(item.id.startswith("tensor:37:layers.") for item in found[1:])
    assert all(item.title.startswith("layers.37.") for item in found[1:])


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


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_terms_of_a_sum_are_strewn_with_its_mark(scenario: Make, sight: See, glyphs: Glyphs) -> None:
    found = sight(scenario(tp=2), part=Part.UNREDUCED)
    shown = texts(tensor_rows(found, Box(50, 12), Pen(glyphs), focus=True))
    assert "unreduced gradients" in shown[0]
    assert any("+  +  +" in line for line in shown)
    assert any("[r0 +3  tp 0]" in line for line in shown)
    whole = texts(tensor_rows(sight(scenario(strategy=Strategy.DDP)), Box(50, 12), Pen(glyphs), focus=True))
    assert "+  +" not in "".join(whole)
    assert any("[r0" in line for line in whole)


def test_j03_neighbours_of_64_owners_differ_and_tell_their_place(scenario: Make, sight: See) -> None:
    """torch's viewer has 20 colours; here two shades alternate, and each tile names rank and coordinate."""
    found = sight(scenario(gpus=64, tp=8))
    rows = tensor_rows(found, Box(60, 68), PEN, focus=True)[3:-1]
    tiles = [
        next(span for span in row if span.role in ("tile_fill", "tile_odd_fill", "selection")) for row in rows
    ]
    assert len(tiles) == 64
    assert all(one.role != other.role for one, other in pairwise(tiles))
    assert "r1  tp 1 dp 0" in "".join(tile.text for tile in tiles)


@pytest.mark.parametrize(
    ("options", "look", "marks"),
    [
        ({"model": "mixtral-8x7b", "gpus": 16, "ep": 4}, {"parameter": EXPERT}, "[0] 1e 2e 3e 4x 5 6 7"),
        ({"model": "mixtral-8x7b", "ep": 4, "pp": 2}, {"parameter": EXPERT}, "[0] 1e 2e 3e 4p 5 6 7"),
        ({"strategy": Strategy.ZERO3, "runtime": Runtime(zero_hpz=4)}, {"part": Part.SECONDARY},
         "[0] 1h 2h 3h 4= 5 6 7"),
    ],
    ids=["experts", "experts on two stages", "second copies"],
)  # fmt: skip
def test_groups_of_their_own_are_lit_by_letter(
    scenario: Make, sight: See, options: dict[str, object], look: dict[str, object], marks: str
) -> None:
    shown = texts(mesh_rows(sight(scenario(**options), **look), Box(70, 12), PEN))
    assert " ".join(shown[2].split()).endswith(marks)


def test_experts_off_the_fast_links_are_warned_about(scenario: Make, sight: See) -> None:
    plan = scenario("mixtral-8x7b", 16, ep=8, gpus_per_node=4, gpu="a6000")
    rows = mesh_rows(sight(plan, parameter=EXPERT), Box(70, 20), PEN)
    assert any("ep leaves NVLink: 2 of 2 groups" in line for line in texts(rows))
    assert any(span.role == "warn" and "5e" in span.text for row in rows for span in row)


@pytest.mark.parametrize(
    ("group", "lit"),
    [("tp", "[0] 1t 2 3 4 5 6 7"), ("fsdp", "[0] 1 2d 3 4d 5 6d 7"), ("world", "[0] 1* 2* 3* 4* 5* 6* 7*")],
)
def test_a_row_of_traffic_lights_its_group(scenario: Make, sight: See, group: str, lit: str) -> None:
    plan = scenario(tp=2)
    place = next(at for at, row in enumerate(sight(plan).rows) if row.group == group)
    found = sight(plan, traffic_row=place)
    assert " ".join(texts(mesh_rows(found, Box(70, 12), PEN))[2].split()).endswith(lit)
    pane = texts(traffic_pane(found, Box(100, 6), PEN))
    assert sum(line.startswith("▶") for line in pane) == 1
    assert pane[-1].endswith("more: t")
    assert row_at(found, 6, next(y for y, line in enumerate(pane) if line.startswith("▶"))) == place


def test_far_nodes_of_the_groups_are_drawn_and_the_rest_counted(scenario: Make, sight: See) -> None:
    plan = scenario("llama3.1-405b", 16384, tp=8, pp=16, layer_split=Split.ENDS, global_batch=2048)
    shown = texts(mesh_rows(sight(plan, rank=12345), Box(100, 33), PEN))
    assert len(shown) <= 33
    joined = "\n".join(shown)
    assert "node 1543 pp12 dp7" in joined
    assert "node 1671 pp13 dp7" in joined
    assert "13369p" in joined
    drawn = sum(line.lstrip().startswith("node") for line in shown)
    hidden = sum(int(line.split()[1]) for line in shown if line.startswith(" …"))
    assert drawn + hidden == 2048


@pytest.mark.parametrize(
    ("nodes", "chosen", "reached", "room", "lines"),
    [
        (3, 1, [], 5, [(0, 0), (1, 0), (2, 0)]),
        (9, 4, [], 3, [(0, 4), (4, 0), (5, 4)]),
        (9, 0, [[0, 8]], 5, [(0, 0), (1, 0), (2, 0), (3, 5), (8, 0)]),
    ],
)  # fmt: skip
def test_lines_of_nodes(
    nodes: int, chosen: int, reached: list[list[int]], room: int, lines: list[tuple[int, int]]
) -> None:
    found = [(line.first, line.count) for line in node_lines(nodes, chosen, reached, room)]
    assert len(found) <= room
    assert sum(max(count, 1) for _, count in found) == nodes
    assert (chosen, 0) in found
    assert found == lines


def test_the_owner_of_fused_rows_may_not_be_the_worker(scenario: Make, sight: See) -> None:
    plan = scenario(gpus=16, tp=16, strategy=Strategy.DDP, runtime=Runtime(framework=Framework.MEGATRON))
    found = sight(plan, parameter="layers.{layer}.attention.wq", rank=1)
    assert "stores q3 k0 v0, computes q2-3 with k0 v0" in "\n".join(texts(cursor_rows(found, 110, PEN)))


def test_a_tile_under_the_mouse(scenario: Make, sight: See) -> None:
    found, box = sight(scenario(tp=2)), Box(40, 12)
    shown = texts(tensor_rows(found, box, PEN, focus=True))
    for tile in range(8):
        assert str(512 * tile) in shown[3 + tile]
        assert spot_at(found, box, (20, 3 + tile), PEN) == (tile, 0)
    assert spot_at(found, box, (20, 2), PEN) is None
    assert spot_at(found, box, (2, 4), PEN) is None


def test_a_rank_under_the_mouse(scenario: Make, sight: See) -> None:
    found, box = sight(scenario(gpus=16, tp=2)), Box(70, 12)
    shown = texts(mesh_rows(found, box, PEN))
    for rank in range(1, 16):
        line = 2 + rank // 8
        place = next(at for at in range(len(shown[line])) if shown[line][at:].startswith(f" {rank}"))
        assert rank_at(found, box, (place + 1, line), PEN) == rank
    assert rank_at(found, box, (1, 2), PEN) is None
    assert rank_at(found, box, (60, 9), PEN) is None


def test_tiles_as_torch_declares_them(scenario: Make, sight: See) -> None:
    """Where every cut is even the metadata says what ranks hold; the title tells which of both is drawn."""
    plan = scenario(tp=2)
    real, declared = (
        texts(tensor_rows(sight(plan, declared=asked), Box(70, 12), PEN, focus=True))
        for asked in (False, True)
    )
    assert "as torch declares it" in declared[0]
    assert "as torch declares it" not in real[0]
    assert [line.split("│")[1].split() for line in real[3:11]] == [
        line.split("│")[1].split() for line in declared[3:11]
    ]


def test_placements_that_torch_declares_are_told_where_they_are_strided(scenario: Make, sight: See) -> None:
    shown = "\n".join(texts(details_rows(sight(scenario(tp=2)), Box(40, 17), PEN)))
    assert "fsdp _S(0,sf=2), tp S(0)" in shown
    assert "_S" not in "\n".join(texts(details_rows(sight(scenario()), Box(40, 17), PEN)))


def test_pytorch_189902_work_is_told_beside_tokens(scenario: Make, sight: See) -> None:
    """The second half of a causal sequence has three quarters of its pairs, a fair share is a half."""
    found = sight(scenario(cp=2), part=Part.ACTIVATIONS, activation="layers.{layer}.attention.q")
    assert "causal work is even; cut in runs, 1.50 times on the last rank" in "\n".join(
        texts(cursor_rows(found, 140, PEN))
    )


@pytest.mark.parametrize(
    ("parameter", "said"), [("layers.{layer}.attention_norm", True), ("layers.{layer}.attention.wq", False)]
)
def test_small_parameters_have_no_second_copy(scenario: Make, sight: See, parameter: str, said: bool) -> None:
    plan = scenario(strategy=Strategy.ZERO3, runtime=Runtime(zero_hpz=4))
    found = sight(plan, part=Part.SECONDARY, parameter=parameter)
    words = "\n".join(texts(cursor_rows(found, 140, PEN)))
    assert ("it has no second copy" in words) is said
