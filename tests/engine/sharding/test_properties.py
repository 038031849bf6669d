"""Invariants of layouts, groups, splits and partitions, on random inputs."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaletui_engine.errors import DivisibilityError, ParseError, ScenarioError, ValueRangeError
from scaletui_engine.sharding.context import head_tail
from scaletui_engine.sharding.distributed_optimizer import BufferRule, optimizer_buffer
from scaletui_engine.sharding.fsdp1 import flat_parameter
from scaletui_engine.sharding.fsdp2 import Fsdp2, fsdp2_param, held_layout
from scaletui_engine.sharding.layout import Layout, check_shape, checked_layout
from scaletui_engine.sharding.mesh import Axis, Mesh, parse_mesh
from scaletui_engine.sharding.orders import mesh_in_order
from scaletui_engine.sharding.pipeline_split import (
    MegatronSplit,
    balanced_split,
    layout_stages,
    torchtitan_split,
    uniform_split,
)
from scaletui_engine.sharding.placement import PARTIAL, REPLICATE, parse_placements, shard
from scaletui_engine.sharding.placement import head_tail as cut_head_tail
from scaletui_engine.sharding.zero import zero_buffer

FEW = settings(max_examples=40, deadline=None)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    dims = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(dims))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    placement = st.one_of(
        st.sampled_from([REPLICATE, PARTIAL]),
        st.builds(shard, st.integers(0, dims - 1), st.integers(1, 3)),
        st.builds(cut_head_tail, st.integers(0, dims - 1)),
    )
    mesh = Mesh(tuple(Axis(f"a{index}", size) for index, size in enumerate(sizes)))
    return Layout(shape, mesh, tuple(draw(placement) for _ in sizes))


@FEW
@given(layouts())
def test_shards_make_up_the_tensor_and_overlap_between_replicas_only(layout: Layout) -> None:
    held: Counter[tuple[int, ...]] = Counter()
    for rank in range(layout.mesh.world):
        indices = ([i for start, stop in along for i in range(start, stop)] for along in layout.slices(rank))
        held.update(product(*indices))
    assert set(held) == set(product(*map(range, layout.shape)))
    assert set(held.values()) == {layout.replicas * layout.partials}


@FEW
@given(layouts(), st.data())
def test_holders_hold(layout: Layout, data: st.DataObject) -> None:
    element = tuple(data.draw(st.integers(0, length - 1)) for length in layout.shape)
    having = [
        rank
        for rank in range(layout.mesh.world)
        if all(
            any(start <= index < stop for start, stop in along)
            for index, along in zip(element, layout.slices(rank), strict=True)
        )
    ]
    assert list(layout.holders(element)) == having
    assert all(rank in layout.holders(element) for rank in having)
    assert len(layout.holders(element)) == len(having)


@FEW
@given(layouts())
def test_segments_cover_a_dim_once(layout: Layout) -> None:
    for dim, length in enumerate(layout.shape):
        ends = [segment.interval for segment in layout.segments(dim)]
        assert [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])]
        assert ends[-1][1] == length


@FEW
@given(layouts())
def test_no_piece_is_larger_than_the_padded_one(layout: Layout) -> None:
    padded = layout.padded_shape()
    for rank in range(layout.mesh.world):
        assert all(own <= most for own, most in zip(layout.local_shape(rank), padded, strict=True))


@FEW
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 9), st.data())
def test_groups_part_the_ranks_and_crossings_are_counted(
    sizes: list[int], block: int, data: st.DataObject
) -> None:
    mesh = Mesh(tuple(Axis(f"a{index}", size) for index, size in enumerate(sizes)))
    names = data.draw(st.lists(st.sampled_from(mesh.names), min_size=1, unique=True))
    groups = list(mesh.groups(*names))
    assert sorted(rank for group in groups for rank in group) == list(range(mesh.world))
    assert len(groups) == mesh.groups(*names).count
    assert mesh.groups(*names).crossing(block) == sum(
        len({rank // block for rank in group}) > 1 for group in groups
    )
    for rank in range(mesh.world):
        assert mesh.rank(mesh.coordinate(rank)) == rank
        own = mesh.groups(*names).of(rank)
        assert own in groups
        assert own[mesh.groups(*names).position(rank)] == rank


@FEW
@given(st.permutations(["tp", "cp", "dp", "pp"]), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_any_megatron_order_numbers_every_rank_once(order: list[str], sizes: list[int]) -> None:
    named = dict(zip(("tp", "cp", "dp", "pp"), sizes, strict=True))
    mesh = mesh_in_order("-".join(order), named)
    assert mesh.world == prod(sizes)
    assert mesh.stride(order[0]) == 1
    assert all(list(group) == sorted(group) for group in mesh.groups(order[-1]))


ENDS = st.none() | st.integers(0, 9)
FLAGS = (st.booleans(), st.booleans())
SPLITS = st.builds(
    MegatronSplit, st.integers(1, 60), st.integers(1, 8), st.integers(1, 3), ENDS, ENDS, *FLAGS
)


@FEW
@given(SPLITS)
def test_megatron_1304_layers_add_up_or_are_refused(split: MegatronSplit) -> None:
    try:
        stages = split.stages()
    except DivisibilityError as error:
        message = str(error)
    else:
        message = str(split.layers)
        ordered = [layer for chunk in range(split.vp) for stage in stages for layer in stage[chunk]]
        assert ordered == list(range(split.layers))
    assert str(split.layers) in message


@FEW
@given(st.integers(1, 60), st.integers(1, 12))
def test_other_splits_add_up(layers: int, stages: int) -> None:
    bounds = uniform_split(layers, stages)
    assert (bounds[0], bounds[-1], list(bounds)) == (0, layers, sorted(bounds))
    weights = [(layer * 7) % 5 + 1 for layer in range(layers)]
    found = balanced_split(weights, stages)
    assert (found[0], found[-1], len(found)) == (0, layers, stages + 1)
    try:
        split = torchtitan_split(layers, stages)
    except DivisibilityError:
        assert layers + 2 < stages or (layers + 2) // stages < 1
    else:
        assert [layer for stage in split for layer in stage] == list(range(layers))


@FEW
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(1, 6), st.booleans())
def test_flat_partitions_hold_every_element_once(numels: list[int], ranks: int, flag: bool) -> None:
    sizes = tuple(numels)
    for found in (
        flat_parameter(sizes, ranks, 4, use_orig_params=flag),
        zero_buffer(sizes, ranks, round_robin=flag),
        optimizer_buffer(sizes, BufferRule(ranks, 40 if flag else None)),
    ):
        held: Counter[tuple[int, int]] = Counter()
        for rank in range(ranks):
            for part in found.parts(rank):
                held.update((part.param, element) for element in range(*part.intra))
        assert held == Counter((param, i) for param, numel in enumerate(sizes) for i in range(numel))


@FEW
@given(st.integers(1, 5), st.integers(1, 8))
def test_head_tail_balances_causal_work(chunk: int, cp: int) -> None:
    split = head_tail(2 * cp * chunk, cp)
    assert sorted(split.order()) == list(range(2 * cp * chunk))
    assert len({split.causal_work(rank) for rank in range(cp)}) == 1
    assert sum(split.causal_work(rank) for rank in range(cp)) == sum(
        split.contiguous_work(rank) for rank in range(cp)
    )


def test_512_rows_over_30_ranks() -> None:
    """pytorch PR #150862: an empty shard's offset is the length, and nothing is dropped or held twice."""
    layout = Layout((512,), Mesh((Axis("a", 30),)), (shard(0),))
    assert [layout.offset(rank)[0] for rank in (28, 29)] == [504, 512]
    assert sum(layout.numel(rank) for rank in range(30)) == 512


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Et*3|(tt|)*2,m|L", ["E 0-2", "3-4", "5-6", "m", "L"]),
        ("Ett|ttL", ["E 0-1", "2-3 L"]),
    ],
)
def test_layout_strings(text: str, expected: list[str]) -> None:
    found = []
    for stage in layout_stages(text):
        layers = f"{stage.layers[0]}-{stage.layers[-1]}" if stage.layers else ""
        words = ("E" if stage.embedding else "", layers, "m" * stage.mtp, "L" if stage.loss else "")
        found.append(" ".join(word for word in words if word))
    assert found == expected


@pytest.mark.parametrize("text", ["tt|L", "Et|t", "Ex|L", "E(t|L", "Et*|L", "Et*99999|(t)*9999|L*5"])
def test_layout_strings_that_are_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="layout"):
        layout_stages(text)


@pytest.mark.parametrize(
    ("mesh", "error", "message"),
    [
        ("dp=4,dp=2", ValueRangeError, "'dp' is named 2 times"),
        ("dp=four", ParseError, "'dp=four' is not NAME=SIZE"),
        ("dp=0", ValueRangeError, "dp=0, but an axis has at least 1 rank"),
        ("dp=1000000,tp=1000", ValueRangeError, "= 1000000000 ranks, more than"),
        ("dp=" + "9" * 40, ValueRangeError, r"mesh axis dp = 9{17}\.\.\. ranks, more than 1048576"),
        ("x" * 40, ParseError, r"mesh axis 'x{17}\.\.\.' is not NAME=SIZE"),
    ],
)
def test_meshes_that_are_refused(mesh: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        parse_mesh(mesh)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("S(0),R", "S(0) R"),
        ("_S(0,sf=2),Shard(-1),P(max)", "_S(0,sf=2) S(1) P(max)"),
        ("Replicate(), Partial", "R P"),
        ("HT(-1),S(0;2,3)", "HT(1) S(0;2,3)"),
    ],
)
def test_placements(text: str, expected: str) -> None:
    assert " ".join(map(str, parse_placements(text, 2))) == expected


@pytest.mark.parametrize("shape", [(0, 3), (10**6, 10**6), (-3, 4), (1, 10**12)])
def test_shapes_that_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueRangeError, match=f"= {prod(shape)} elements"):
        check_shape(shape)


def test_a_refusal_repeats_only_the_beginning_of_what_was_typed() -> None:
    with pytest.raises(ValueRangeError) as caught:
        check_shape((10**40, 10**40))
    assert str(caught.value) == (
        "shape 10000000000000000... = 10000000000000000... elements, which is not below 1000000000000"
    )


@pytest.mark.parametrize(
    ("placements", "message"),
    [
        ("S(1;2,3,4),R", "3 lengths for the 4 ranks of a: one a rank"),
        ("S(1;2,3,4,6),R", "lengths of dim 1 add up to 15, but it has 14"),
        ("S(1;2,3,4,5),S(1)", "dim 1 has given lengths, so no other axis can cut it"),
    ],
)
def test_given_lengths_that_are_refused(placements: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        checked_layout(Layout((4, 14), parse_mesh("a=4,b=2"), parse_placements(placements, 2)))


@FEW
@given(st.integers(1, 40), st.integers(1, 5), st.integers(2, 4))
def test_a_strided_layout_tells_what_fsdp2_holds(rows: int, dp: int, tp: int) -> None:
    param = fsdp2_param((rows, 3), Fsdp2(dp, tp=tp, tp_dim=0))
    real = held_layout(param.declared)
    assert real is not None
    assert [real.slices(rank) for rank in range(dp * tp)] == [
        param.real.slices(rank) for rank in range(dp * tp)
    ]


@pytest.mark.parametrize("placements", ["S(0),S(0)", "_S(0,sf=3),S(0)", "_S(0,sf=2),R"])
def test_layouts_that_tell_no_other(placements: str) -> None:
    assert held_layout(Layout((8, 3), parse_mesh("dp=2,tp=2"), parse_placements(placements, 2))) is None
