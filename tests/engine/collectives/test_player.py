"""The collective player's frames against numpy arrays, its bytes against the formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from scaletui_engine.collectives.execute import states
from scaletui_engine.collectives.family import (
    FAMILY,
    Played,
    is_done,
    is_valid,
    names_of,
    op_of,
    owners,
    phase_at,
    phases,
    player_of,
    volume,
)
from scaletui_engine.collectives.player import KEPT_EVERY, Player
from scaletui_engine.collectives.registry import NAMES, build
from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.errors import ValueRangeError

NAMED = [name for names in FAMILY.values() for name in names]


def shapes(name: str) -> list[Played]:
    """The procedure on every small group that it takes."""
    return [
        Played(name, ranks, ranks * 24, per_node)
        for ranks in (1, 2, 3, 4, 6, 8, 12, 16)
        for per_node in (2, 4)
        if is_valid(name, ranks, per_node)
    ]


def test_every_procedure_can_be_played() -> None:
    assert sorted(NAMED) == sorted(NAMES)
    assert [op_of(name) for name in ("ring-all-gather", "all-to-all")] == [
        Collective.ALL_GATHER, Collective.ALL_TO_ALL,
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_a_block_holds_is_what_the_arrays_hold(name: str) -> None:
    """Rank r's array is 2^r everywhere, so that a sum spells out whose values are in it."""
    for played in shapes(name):
        if played.ranks > 1 and played.op is not Collective.BROADCAST:
            player = player_of(played)
            arrays = [np.full(played.payload, 2.0**rank) for rank in range(played.ranks)]
            for index, now in enumerate(states(player.procedure, arrays)):
                held = player.frame(index).held
                for rank, array in enumerate(now):
                    bits = [int(array[start]) for start in player.starts]
                    known = [block for block, mask in enumerate(held[rank]) if mask]
                    assert [held[rank][block] for block in known] == [bits[block] for block in known]


@pytest.mark.parametrize("name", NAMED)
def test_all_blocks_are_done_at_the_end(name: str) -> None:
    for played in shapes(name):
        player = player_of(played)
        places = owners(player)
        scatters = played.op is Collective.REDUCE_SCATTER
        for rank, blocks in enumerate(player.frame(player.last).held):
            done = [is_done(played, bits, owner) for bits, owner in zip(blocks, places, strict=True)]
            assert all(
                flag for flag, owner in zip(done, places, strict=True) if not scatters or owner == rank
            )
        if played.ranks > 1:
            assert not all(
                is_done(played, bits, owner)
                for blocks in player.frame(0).held
                for bits, owner in zip(blocks, places, strict=True)
            )


@pytest.mark.parametrize("name", NAMED)
def test_the_bytes_of_the_rank_that_sends_most_are_the_formula(name: str) -> None:
    for played in shapes(name):
        player = player_of(played)
        assert max(player.frame(player.last).sent) == volume(played).factor * played.payload
        assert player.totals == player.frame(player.last).sent


@pytest.mark.parametrize("name", NAMED)
def test_the_phases_are_all_of_the_steps(name: str) -> None:
    for played in shapes(name):
        player = player_of(played)
        assert sum(steps for _, steps in phases(played)) == player.last
        names = list(dict.fromkeys(phase_at(played, index) for index in range(1, player.last + 1)))
        assert names == [phase for phase, steps in phases(played) if steps]


@pytest.mark.parametrize("op", list(FAMILY))
def test_a_ring_sends_what_the_traffic_table_says(op: Collective) -> None:
    for ranks in (2, 4, 8, 64):
        played = Played(FAMILY[op][0], ranks, ranks << 20)
        player = player_of(played)
        assert max(player.frame(player.last).sent) == sent_bytes(op, played.payload, ranks)


def test_frames_are_the_same_in_any_order() -> None:
    forth, back = (player_of(Played("ring-all-reduce", 24, 24)) for _ in range(2))
    last = forth.last
    assert last > 2 * KEPT_EVERY
    frames = [forth.frame(index) for index in range(last + 1)]
    assert [back.frame(index) for index in reversed(range(last + 1))] == frames[::-1]
    with pytest.raises(ValueRangeError, match=f"frame {last + 1} is not in 0 <= frame <= {last} steps"):
        forth.frame(last + 1)


def test_a_ring_of_four_step_by_step() -> None:
    player = Player(build("ring-all-reduce", 4, 8), 4)
    assert player.starts == (0, 2, 4, 6)
    assert player.frame(0).terms == ((1,) * 4,) * 4
    assert [sorted(blocks) for blocks in player.frame(3).terms] == [[1, 2, 3, 4]] * 4
    assert player.frame(6).terms == ((4,) * 4,) * 4
    assert [player.frame(index).sent[0] for index in range(7)] == [0, 8, 16, 24, 32, 40, 48]
    assert [(each.source, player.lands(each)) for each in player.frame(1).arrives(0)] == [(3, range(2, 3))]
    assert [(each.target, player.lands(each)) for each in player.frame(1).leaves(0)] == [(1, range(3, 4))]


def test_what_was_added_elsewhere_is_spent() -> None:
    player = Player(build("ring-all-reduce", 4, 8))
    live = [sum(4 - spent.bit_count() for spent in player.frame(index).spent) for index in range(7)]
    assert live == [16, 12, 8, 4, 8, 12, 16]
    assert Player(build("doubling-all-reduce", 4, 8)).frame(1).spent == (0,) * 4


def test_a_broadcast_starts_with_one_holder() -> None:
    player = player_of(Played("tree-broadcast", 4, 8))
    assert [[terms[0] for terms in player.frame(index).terms] for index in range(3)] == [
        [1, 0, 0, 0],
        [1, 0, 1, 0],
        [1, 1, 1, 1],
    ]


def test_an_exchange_reads_what_was_there_at_the_start() -> None:
    player = player_of(Played("all-to-all", 4, 8))
    assert player.frame(3).held == ((1, 2, 4, 8),) * 4


@pytest.mark.parametrize(
    ("op", "ranks", "per_node", "names"),
    [
        (Collective.ALL_REDUCE, 8, 4, FAMILY[Collective.ALL_REDUCE]),
        (Collective.ALL_REDUCE, 8, 8, FAMILY[Collective.ALL_REDUCE][:-1]),
        (Collective.ALL_REDUCE, 6, 4, ("ring-all-reduce", "tree-all-reduce")),
        (Collective.BROADCAST, 3, 1, ("ring-broadcast", "tree-broadcast")),
    ],
)
def test_only_procedures_that_take_the_group(
    op: Collective, ranks: int, per_node: int, names: tuple[str, ...]
) -> None:
    assert names_of(op, ranks, per_node) == names


@pytest.mark.parametrize(
    ("name", "ranks", "text", "factor"),
    [
        ("ring-all-reduce", 8, "2(n-1)/n", Fraction(7, 4)),
        ("ring-all-gather", 8, "(n-1)/n", Fraction(7, 8)),
        ("tree-all-reduce", 6, "ceil(log2 n)", Fraction(3)),
        ("doubling-all-reduce", 16, "log2 n", Fraction(4)),
        ("ring-broadcast", 5, "1", Fraction(1)),
    ],
)
def test_volumes_as_people_write_them(name: str, ranks: int, text: str, factor: Fraction) -> None:
    found = volume(Played(name, ranks, 1))
    assert (found.text, found.factor) == (text, factor)


def test_nodes_are_told_apart() -> None:
    played = Played("ring-all-reduce", 8, 8, 4)
    assert (played.nodes, played.crosses(3, 4), played.crosses(0, 3), played.algorithm) == (
        2,
        True,
        False,
        "ring",
    )
    assert Played("all-to-all", 4, 4).algorithm == "direct"


@pytest.mark.parametrize("payload", [12, 13, 14, (1 << 30) + 1])
def test_an_exchange_that_ranks_do_not_divide_is_played_to_its_end(payload: int) -> None:
    played = Played("all-to-all", 3, payload)
    player = player_of(played)
    last = player.frame(player.last)
    assert all(
        is_done(played, bits, owner)
        for held in last.held
        for bits, owner in zip(held, owners(player), strict=True)
    )
    assert set(last.sent) == {2 * -(-payload // 3)}
