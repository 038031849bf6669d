"""Tiles and their owners against what the engine says every rank holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from scaletui.state.sharding_bands import group_size
from scaletui.state.sharding_picture import Pose, empty_ranks, held_with, pairs_of, picture_of, runs_of
from scaletui.state.sharding_sight import holds, next_tile
from scaletui_engine.plan import Axes, Strategy
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.sharding.holders import holders
from scaletui_engine.sharding.orders import Order, renumbered
from scaletui_engine.sharding.parameter_view import parameter_view
from scaletui_engine.sharding.part import Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario

    Make = Callable[..., Scenario]

WQ = "layers.{layer}.attention.wq"
W1 = "layers.{layer}.experts.{expert}.w1"
PLENTY = (1 << 10, 1 << 10)

CASES = [
    ("fsdp, tp on rows", {"tp": 2}, WQ, Part.WEIGHTS, 8),
    ("fsdp, tp on columns", {"tp": 2}, "layers.{layer}.attention.wo", Part.WEIGHTS, 8),
    ("keys on more ranks than heads", {"gpus": 16, "tp": 16}, "layers.{layer}.attention.wk", Part.WEIGHTS, 8),
    ("ddp: one tile", {"strategy": Strategy.DDP}, WQ, Part.WEIGHTS, 1),
    ("zero-3 runs", {"tp": 2, "strategy": Strategy.ZERO3}, WQ, Part.WEIGHTS, 8),
    ("zero-1 weights are whole", {"strategy": Strategy.ZERO1}, WQ, Part.WEIGHTS, 1),
    ("experts over ep and fsdp", {"model": "mixtral-8x7b", "gpus": 16, "ep": 8}, W1, Part.WEIGHTS, 16),
    (
        "fewer rows than ranks",
        {"model": "mixtral-8x7b", "gpus": 24},
        "layers.{layer}.router",
        Part.WEIGHTS,
        8,
    ),
    ("a vector", {}, "layers.{layer}.attention_norm", Part.WEIGHTS, 8),
]


@pytest.mark.parametrize(
    ("name", "options", "tensor", "part", "tiles"), CASES, ids=[case[0] for case in CASES]
)
def test_every_rank_is_in_its_own_tile(
    scenario: Make, name: str, options: dict[str, object], tensor: str, part: Part, tiles: int
) -> None:
    view = parameter_view(scenario(**options), tensor, part)
    picture = picture_of(view, Pose(0, 0), PLENTY)
    assert len(picture.spots) == tiles, name
    for rank in view.ranks():
        spot = picture.spot(rank)
        assert (spot is None) is (view.piece(rank).numel == 0)
        if spot is not None:
            held = picture.holders(spot)
            assert held is not None
            assert holds(held, rank)
            assert rank in list(held)


@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.FSDP, Strategy.ZERO3])
@pytest.mark.parametrize("tensor", ["wq", "wk", "wv"])
def test_fused_rows_are_drawn_as_they_lie(scenario: Make, tensor: str, strategy: Strategy) -> None:
    """Sixteen ranks on eight key heads: TP leaves unlike pieces, which the optimizer's cut cuts each anew."""
    plan = scenario(gpus=64, tp=16, strategy=strategy, runtime=Runtime(framework=Framework.MEGATRON))
    view = parameter_view(plan, f"layers.0.attention.{tensor}", Part.OPTIMIZER)
    having = [rank for rank in view.ranks() if view.piece(rank).numel]
    for at in (0, 15):
        picture = picture_of(view, Pose(0, at), PLENTY)
        assert sorted(rank for spot in picture.spots for rank in picture.holders(spot) or ()) == having
        assert all(rank in (picture.holders(picture.spot(rank)) or ()) for rank in having)
        assert picture.rows[-1].stop == view.map.shape[0] * picture.unit
    assert set(empty_ranks(view, 0)) == set(view.ranks()) - set(having)
    for rank in having:
        assert list(held_with(view, rank) or ()) == [rank]


@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.ZERO2, Strategy.FSDP1])
@pytest.mark.parametrize("tensor", ["tok_embeddings", WQ, "layers.{layer}.ffn_norm", "output"])
def test_runs_are_found_without_asking_every_place(scenario: Make, strategy: Strategy, tensor: str) -> None:
    view = parameter_view(scenario(gpus=64, strategy=strategy), tensor, Part.OPTIMIZER)
    asked = []
    for place in range(view.map.degree):
        run = view.piece(place * view.map.lane).run
        if run is not None and run[0] < run[1]:
            asked.append((*run, place))
    assert runs_of(view) == tuple(sorted(asked))


@pytest.mark.parametrize("rank", [0, 5, 15])
def test_who_holds_the_same_is_what_the_engine_says(scenario: Make, rank: int) -> None:
    plan = scenario(gpus=16, tp=2, dp_replicate=2, strategy=Strategy.HSDP)
    view = parameter_view(plan, "layers.3.attention.wq", Part.WEIGHTS)
    found = held_with(view, rank)
    first = tuple(along[0][0] for along in view.piece(rank).region)
    assert found is not None
    assert list(found) == list(holders(plan, view.named, first))
    assert rank in list(found)


def test_layers_on_other_stages_are_no_replicas(scenario: Make) -> None:
    view = parameter_view(scenario(gpus=16, pp=2), WQ, Part.WEIGHTS)
    found = held_with(view, 9)
    assert found is not None
    assert list(found) == [9]


def test_a_mirrored_pipeline_holds_every_layer_twice(scenario: Make) -> None:
    """DualPipe: pipeline ranks 0 and 3 hold the same layers."""
    plan = scenario(gpus=16, pp=4, strategy=Strategy.ZERO1, schedule="dualpipe", global_batch=64)
    found = held_with(parameter_view(plan, WQ, Part.WEIGHTS), 0)
    assert found is not None
    assert list(found) == [0, 1, 2, 3, 12, 13, 14, 15]


@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.FSDP1])
@pytest.mark.parametrize("part", [Part.WEIGHTS, Part.OPTIMIZER])
def test_every_stage_has_tiles_of_its_own_layers(scenario: Make, strategy: Strategy, part: Part) -> None:
    """Where no layer is chosen a rank's tile is that of the first layer on its stage."""
    plan = scenario(gpus=16, pp=2, strategy=strategy)
    view = parameter_view(plan, WQ, part)
    for rank in range(16):
        picture, piece = picture_of(view, Pose(0, rank), PLENTY), view.piece(rank)
        spot = picture.spot(rank)
        assert (spot is None) is (piece.numel == 0)
        if spot is not None:
            held = picture.holders(spot)
            assert held is not None
            assert rank in list(held)
            assert {other // 8 for other in held} == {rank // 8}
    empty = {*empty_ranks(view, 0), *empty_ranks(view, 8)}
    assert empty == {rank for rank in range(16) if view.piece(rank).numel == 0}
    assert len(empty) < 16


def test_more_owners_than_cells_become_whole_ranges(scenario: Make) -> None:
    view = parameter_view(scenario(gpus=64), WQ, Part.WEIGHTS)
    picture = picture_of(view, Pose(0, 0), (6, 10))
    assert picture.is_dense
    assert len(picture.rows) <= 10
    assert all(band.start % 64 == 0 for band in picture.rows)
    assert [band.start for band in picture.rows[1:]] == [band.stop for band in picture.rows[:-1]]
    assert (picture.rows[0].start, picture.rows[-1].stop) == (0, 4096)


@pytest.mark.parametrize(
    ("sizes", "cells", "size"),
    [
        ((8, 8), 22, 4),
        ((8, 128), 29, 64),
        ((8, 128), 8, 128),
        ((4, 2, 4), 3, 16),
        ((61,), 22, 61),
        ((6,), 1, 6),
    ],
)
def test_groups_of_parts_are_whole_divisors(sizes: tuple[int, ...], cells: int, size: int) -> None:
    assert group_size(sizes, cells) == size


@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.ZERO3])
@pytest.mark.parametrize("gpus", [64, 56])
def test_ranges_hold_the_same_number_of_ranks(scenario: Make, strategy: Strategy, gpus: int) -> None:
    view = parameter_view(scenario(gpus=gpus, tp=8, strategy=strategy), WQ, Part.WEIGHTS)
    picture = picture_of(view, Pose(0, 0), (6, 22))
    assert picture.is_dense
    rows = Counter(row for rank in view.ranks() for row, _ in picture.spots_of(rank))
    assert set(rows.values()) == {4 if gpus == 64 else 7}
    assert sum(rows.values()) == gpus


def test_sixteen_thousand_ranks_are_not_listed(scenario: Make) -> None:
    plan = scenario("llama3.1-405b", 16384, tp=8, pp=2)
    view = parameter_view(plan, "tok_embeddings", Part.WEIGHTS)
    picture = picture_of(view, Pose(0, 9000), (6, 12))
    assert len(picture.rows) == 8
    assert [band.ranks.fixed[1] for band in picture.rows] == list(range(8))
    assert picture.padding == 1024 * 8 * 16 - 128256
    assert len(empty_ranks(view, 0)) == sum(view.piece(rank).numel == 0 for rank in range(0, 8192, 8)) * 8


def test_empty_ranks_are_known_by_number(scenario: Make) -> None:
    view = parameter_view(scenario("mixtral-8x7b", 24), "layers.{layer}.router", Part.WEIGHTS)
    assert empty_ranks(view, 0) == tuple(range(8, 24))
    assert picture_of(view, Pose(0, 0), PLENTY).padding == 16


def test_padded_rows_of_a_vocabulary_are_padding(scenario: Make) -> None:
    view = parameter_view(scenario("gpt2", 8, tp=8), "tok_embeddings", Part.WEIGHTS)
    picture = picture_of(view, Pose(0, 0), PLENTY)
    padded = [(band.start, band.stop) for band in picture.rows if band.is_padding]
    rows = view.map.shape[0]
    assert rows > 50257
    assert padded == [(50257, rows)]


@pytest.mark.parametrize(
    ("options", "pairs"),
    [({}, ((0, 1), (0, 2), (1, 2))), ({"strategy": Strategy.ZERO3}, ((0, 1), (0, 2)))],
    ids=["by dims", "flat runs start along the first dim"],
)
def test_dims_to_draw(scenario: Make, options: dict[str, object], pairs: tuple[object, ...]) -> None:
    assert pairs_of(parameter_view(scenario("mixtral-8x7b", **options), W1, Part.WEIGHTS)) == pairs


@pytest.mark.parametrize(("rank", "steps", "tile"), [(0, 1, 1), (0, -1, 0), (7, 1, 7), (2, -1, 1)])
def test_the_cursor_walks_tiles(scenario: Make, rank: int, steps: int, tile: int) -> None:
    picture = picture_of(parameter_view(scenario(), WQ, Part.WEIGHTS), Pose(0, rank), PLENTY)
    assert next_tile(picture, rank, steps) == (tile, 0)


def test_orders_number_the_same_place() -> None:
    axes = Axes(tp=2, pp=2, dp_shard=4)
    there = (Order.MEGATRON, Order.LLAMA3)
    assert [renumbered(axes, rank, there) for rank in (0, 1, 2, 8, 15)] == [0, 1, 4, 2, 15]
    for order in Order:
        back = [
            renumbered(axes, renumbered(axes, rank, (Order.MEGATRON, order)), (order, Order.MEGATRON))
            for rank in range(16)
        ]
        assert back == list(range(16))
