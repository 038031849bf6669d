"""Collectives step by step against the direct answer, and the bytes of their steps against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaletui_engine.collectives import registry
from scaletui_engine.collectives.bandwidth import hierarchical_bytes
from scaletui_engine.collectives.execute import run
from scaletui_engine.collectives.hierarchical import hierarchical_all_reduce
from scaletui_engine.collectives.step import block
from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.errors import DivisibilityError, UnknownNameError, ValueRangeError

ALL_REDUCES = [name for name in registry.NAMES if name.endswith("all-reduce")]
FEW = settings(max_examples=25, deadline=None)
POWERS = ("doubling-all-reduce", "halving-all-reduce")


def arrays(ranks: int, elements: int) -> list[np.ndarray]:
    """Whole numbers, so that every order of summation is exact."""
    dice = np.random.default_rng(ranks * 1000 + elements)
    return [dice.integers(-99, 99, elements).astype(np.float64) for _ in range(ranks)]


@pytest.mark.parametrize("name", ALL_REDUCES)
@FEW
@given(power=st.integers(0, 4), ranks=st.integers(1, 9), elements=st.integers(0, 40))
def test_all_reduce_is_the_sum(name: str, power: int, ranks: int, elements: int) -> None:
    ranks = 1 << power if name in POWERS else ranks
    given_ = arrays(ranks, elements)
    per_node = next(size for size in (3, 2, 1) if ranks % size == 0)
    for found in run(registry.build(name, ranks, elements, per_node), given_):
        np.testing.assert_array_equal(found, sum(given_))


@FEW
@given(ranks=st.integers(1, 9), elements=st.integers(0, 40))
def test_reduce_scatter_leaves_block_i_on_rank_i(ranks: int, elements: int) -> None:
    given_ = arrays(ranks, elements)
    for rank, found in enumerate(run(registry.build("ring-reduce-scatter", ranks, elements), given_)):
        start, stop = block(elements, ranks, rank)
        np.testing.assert_array_equal(found[start:stop], sum(given_)[start:stop])


@FEW
@given(ranks=st.integers(1, 9), elements=st.integers(0, 40))
def test_all_gather_brings_block_i_from_rank_i(ranks: int, elements: int) -> None:
    given_ = arrays(ranks, elements)
    whole = np.concatenate([given_[r][slice(*block(elements, ranks, r))] for r in range(ranks)])
    for found in run(registry.build("ring-all-gather", ranks, elements), given_):
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("name", ["ring-broadcast", "tree-broadcast"])
@FEW
@given(ranks=st.integers(1, 9), elements=st.integers(0, 40))
def test_broadcast_gives_rank_0s_array_to_all(name: str, ranks: int, elements: int) -> None:
    given_ = arrays(ranks, elements)
    for found in run(registry.build(name, ranks, elements), given_):
        np.testing.assert_array_equal(found, given_[0])


@FEW
@given(ranks=st.integers(1, 9), each=st.integers(0, 6))
def test_all_to_all_transposes_blocks(ranks: int, each: int) -> None:
    given_ = arrays(ranks, ranks * each)
    for rank, found in enumerate(run(registry.build("all-to-all", ranks, ranks * each), given_)):
        blocks = [other[rank * each : (rank + 1) * each] for other in given_]
        np.testing.assert_array_equal(found, np.concatenate(blocks) if blocks else found)


@FEW
@given(ranks=st.integers(1, 9), elements=st.integers(0, 40))
def test_all_to_all_pads_an_array_that_ranks_do_not_divide(ranks: int, elements: int) -> None:
    """Blocks of one size land side by side: nobody's block lies over another's."""
    found = registry.build("all-to-all", ranks, elements)
    given_ = arrays(ranks, found.elements)
    assert 0 <= found.elements - elements < ranks
    for rank, array in enumerate(run(found, given_)):
        whole = [np.array_split(other, ranks)[rank] for other in given_]
        np.testing.assert_array_equal(array, np.concatenate(whole))


@pytest.mark.parametrize("name", registry.NAMES)
@FEW
@given(power=st.integers(0, 4), elements=st.integers(0, 40))
def test_what_is_sent_is_received(name: str, power: int, elements: int) -> None:
    ranks = 1 << power
    found = registry.build(name, ranks, elements, 2)
    sent = sum(found.sent(rank) for rank in range(ranks))
    assert sent == sum(found.received(rank) for rank in range(ranks))


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("ring-all-reduce", Collective.ALL_REDUCE),
        ("halving-all-reduce", Collective.ALL_REDUCE),
        ("ring-all-gather", Collective.ALL_GATHER),
        ("ring-reduce-scatter", Collective.REDUCE_SCATTER),
        ("all-to-all", Collective.ALL_TO_ALL),
    ],
)
@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_bytes_of_the_steps_are_the_formulas(name: str, op: Collective, ranks: int) -> None:
    found = registry.build(name, ranks, 64)
    assert {found.sent(rank) for rank in range(ranks)} == {sent_bytes(op, 64, ranks)}


@pytest.mark.parametrize(
    ("name", "ranks", "steps"),
    [
        ("ring-all-reduce", 8, 14),
        ("ring-all-gather", 8, 7),
        ("tree-all-reduce", 8, 6),
        ("doubling-all-reduce", 8, 3),
        ("halving-all-reduce", 8, 6),
        ("tree-broadcast", 9, 4),
    ],
)
def test_steps(name: str, ranks: int, steps: int) -> None:
    assert len(registry.build(name, ranks, 64).steps) == steps


def test_hierarchical_sends_only_a_pieces_worth_across_nodes() -> None:
    found = hierarchical_all_reduce(32, 320, 8)
    inside, across, back = hierarchical_bytes(320, 4, 8)
    crossing = [t for each in found.steps for t in each.transfers if t.source // 8 != t.target // 8]
    assert found.sent(5) == inside + across + back
    assert sum(t.elements for t in crossing if t.source == 5) == across


@pytest.mark.parametrize(
    ("name", "ranks", "error", "message"),
    [
        ("ring-allreduce", 4, UnknownNameError, "did you mean 'ring-all-reduce'"),
        ("doubling-all-reduce", 6, DivisibilityError, "6 ranks are no power of 2; nearest valid: 4 ranks"),
        ("ring-all-reduce", 0, ValueRangeError, "0 ranks are not in 1 <= ranks"),
        ("hierarchical-all-reduce", 12, DivisibilityError, "12 ranks / 8 per node = 1.5 nodes"),
    ],
)
def test_refusals(name: str, ranks: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        registry.build(name, ranks, 8)
