"""The collective player's choices, blocks and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.collective_choice import (
    FREE,
    RANKS,
    Choice,
    next_nodes,
    next_op,
    next_row,
    next_way,
    of_row,
    opened,
    place_of,
    playable,
    resized,
    seated,
)
from scaletui.state.collective_sight import Stand, sight_of, ways_of
from scaletui.state.playback import Playback
from scaletui.state.seat import Seat
from scaletui.text.glyphs import ASCII, MONO, UNICODE
from scaletui.view.box import Box
from scaletui.view.collective_grid import grid_rows, head_row, window_text
from scaletui.view.collective_head import legend_row, strip_rows
from scaletui.view.collective_layout import layout_of
from scaletui.view.collective_words import answer_row, name_of, origin_facts, step_rows, ways_rows
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.collectives.family import FAMILY, Played, is_valid
from scaletui_engine.collectives.wire import Collective
from scaletui_engine.sharding.traffic.table import traffic

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.collective_sight import Sight
    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario

    MakeSight = Callable[..., Sight]
    MakeScenario = Callable[..., Scenario]

PENS = {"unicode": Pen(UNICODE), "mono": Pen(MONO), "ascii": Pen(ASCII), "big": Pen(UNICODE, big=True)}


def text(row: Row) -> str:
    return "".join(span.text for span in row)


def test_a_chosen_row_is_played_with_its_group_and_one_of_its_messages(scenario: MakeScenario) -> None:
    of = scenario()
    rows = traffic(of).implemented
    place = next(place for place, row in enumerate(rows) if row.call.what == "weights_forward")
    choice = opened(of, rows, place)
    call = rows[place].call
    assert (choice.row, choice.group, choice.what) == (place, "fsdp", "weights_forward")
    assert choice.played == Played("ring-all-gather", 8, call.payload // call.messages, 8)


def test_without_a_chosen_row_the_one_that_sends_most_is_played(scenario: MakeScenario) -> None:
    of = scenario()
    rows = traffic(of).implemented
    most = max((rows[place].call.sent, place) for place in playable(rows))[1]
    assert opened(of, rows, None).row == most
    assert rows[most].call.what == "gradients"


def test_without_traffic_four_ranks_are_played(scenario: MakeScenario) -> None:
    assert opened(scenario(gpus=1), (), None) is FREE
    assert FREE.played.ranks == 4


def test_single_numbers_and_sends_are_not_played(scenario: MakeScenario) -> None:
    rows = traffic(scenario(gpus=16, pp=2, global_batch=32)).implemented
    left_out = {row.call.what for place, row in enumerate(rows) if place not in playable(rows)}
    assert {"gradient_norm", "loss_value"} <= left_out
    assert all(rows[place].call.op is not Collective.SEND for place in playable(rows))


def test_a_group_over_nodes_knows_who_shares_the_fast_links(scenario: MakeScenario) -> None:
    of = scenario(gpus=64)
    rows = traffic(of).implemented
    assert opened(of, rows, None).played.per_node == 8
    strided = scenario(gpus=64, tp=8)
    fsdp = next(place for place, row in enumerate(traffic(strided).implemented) if row.group == "fsdp")
    assert of_row(strided, traffic(strided).implemented, fsdp).played.per_node == 1


def test_a_larger_group_says_how_many_ranks_it_has(scenario: MakeScenario) -> None:
    of = scenario(gpus=512)
    choice = opened(of, traffic(of).implemented, None)
    assert (choice.played.ranks, choice.group_ranks) == (128, 512)
    assert origin_facts(sight_of(choice, Playback(), 0, 0))[-1] == "128 of 512 ranks"


def test_rows_go_round(scenario: MakeScenario) -> None:
    of = scenario(gpus=16, tp=2)
    rows = traffic(of).implemented
    first = opened(of, rows, None)
    seen, choice = [], first
    for _ in playable(rows):
        choice = next_row(of, rows, choice, 1)
        seen.append(choice.row)
    assert sorted(seen) == sorted(playable(rows))  # type: ignore[type-var]
    assert choice == first
    assert next_row(of, rows, next_row(of, rows, first, 1), -1) == first
    assert next_row(of, rows, FREE, 1).row == playable(rows)[0]


def test_keys_choose_valid_collectives_alone() -> None:
    choice = FREE
    for change in (
        next_op,
        next_way,
        next_nodes,
        lambda each: resized(each, 1),
        lambda each: resized(each, -1),
    ):
        for _ in range(20):
            choice = change(choice)
            played = choice.played
            assert is_valid(played.name, played.ranks, played.per_node)
            assert played.ranks in RANKS
            assert played.payload == FREE.played.payload


def test_every_collective_and_every_algorithm_is_reached() -> None:
    choice, seen = Choice(Played("ring-all-reduce", 8, 1 << 20, 4)), set()
    for _ in FAMILY:
        for _ in range(5):
            seen.add(choice.played.name)
            choice = next_way(choice)
        choice = next_op(choice)
    assert seen == {name for names in FAMILY.values() for name in names}


@pytest.mark.parametrize(("steps", "ranks"), [(1, 6), (-1, 3)])
def test_sizes_of_groups(steps: int, ranks: int) -> None:
    assert resized(FREE, steps).played.ranks == ranks


def test_the_list_of_sizes_ends_at_its_ends() -> None:
    smallest, largest = FREE, FREE
    for _ in RANKS:
        smallest, largest = resized(smallest, -1), resized(largest, 1)
    assert (smallest.played.ranks, largest.played.ranks) == (2, 128)


def test_an_algorithm_that_does_not_take_the_group_gives_way() -> None:
    halving = Choice(Played("halving-all-reduce", 4, 1 << 20, 4))
    assert resized(halving, 1).played.name == "ring-all-reduce"
    nested = Choice(Played("hierarchical-all-reduce", 4, 1 << 20, 2))
    assert next_nodes(nested).played == Played("ring-all-reduce", 4, 1 << 20, 4)


def test_nodes_are_divisors_of_the_group() -> None:
    choice, seen = Choice(Played("ring-all-reduce", 12, 1 << 20, 12)), []
    for _ in range(5):
        seen.append(choice.played.per_node)
        choice = next_nodes(choice)
    assert seen == [12, 6, 4, 3, 2]


def test_how_blocks_stand(collective: MakeSight) -> None:
    sight = collective("ring-all-reduce", 4, 2)
    blocks = [[(block.stand, block.count) for block in sight.blocks(rank)] for rank in range(2)]
    assert blocks == [
        [(Stand.PART, 1), (Stand.ARRIVES, 3), (Stand.LEAVES, 2), (Stand.SPENT, 1)],
        [(Stand.SPENT, 1), (Stand.PART, 1), (Stand.ARRIVES, 3), (Stand.LEAVES, 2)],
    ]
    end = collective("ring-all-reduce", 4, 6)
    assert {block.count for rank in range(4) for block in end.blocks(rank)} == {4}
    assert [end.done_blocks(rank) for rank in range(4)] == [4] * 4


@pytest.mark.parametrize(
    ("name", "index", "first"),
    [
        ("ring-all-gather", 0, [(Stand.DONE, 0), (Stand.EMPTY, -1), (Stand.EMPTY, -1), (Stand.EMPTY, -1)]),
        ("all-to-all", 3, [(Stand.DONE, 0), (Stand.ARRIVES, 1), (Stand.DONE, 2), (Stand.DONE, 3)]),
        ("tree-broadcast", 1, [(Stand.LEAVES, 0)]),
        ("doubling-all-reduce", 1, [(Stand.ARRIVES, 2)]),
    ],
)
def test_blocks_that_are_copied(
    collective: MakeSight, name: str, index: int, first: list[tuple[Stand, int]]
) -> None:
    assert [(block.stand, block.count) for block in collective(name, 4, index).blocks(0)] == first


def test_the_first_line_answers_the_question(collective: MakeSight) -> None:
    sight = collective("ring-all-reduce", 8, 3)
    wide = text(answer_row(sight, 120, PENS["unicode"])).strip()
    assert (
        wide == "ring all-reduce of 1 GiB over 8 ranks: step 3 of 14, r0 sent 384 MiB of 1.8 GiB (2(n-1)/n)"
    )
    whole = text(answer_row(collective("ring-broadcast", 8, 1), 120, PENS["unicode"])).strip()
    assert whole.endswith("r0 sent 128 MiB of 1 GiB")
    narrow = text(answer_row(sight, 80, PENS["unicode"])).strip()
    assert narrow == "ring all-reduce of 1 GiB over 8 ranks: step 3 of 14, r0 sent 384 MiB of 1.8 GiB"


@pytest.mark.parametrize("name", [name for names in FAMILY.values() for name in names])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_first_line_says_step_and_bytes_at_every_width(
    collective: MakeSight, name: str, width: int
) -> None:
    sight = collective(name, 16, 2, per_node=4)
    line = text(answer_row(sight, width, PENS["unicode"]))
    assert len(line) == width
    assert name_of(sight.played) in line
    assert f"step 2 of {sight.player.last}" in line
    assert "sent" in line or width == 60


@pytest.mark.parametrize("name", [name for names in FAMILY.values() for name in names])
def test_the_words_agree_with_the_picture_at_the_end(collective: MakeSight, name: str) -> None:
    sight = collective(name, 8, 0, per_node=4)
    end = collective(name, 8, sight.player.last, per_node=4)
    most = max(end.frame.sent)
    assert most == end.volume.factor * end.played.payload
    total = PENS["unicode"].numbers.size(most)
    assert f"= {total} a rank" in text(step_rows(end, 120, PENS["unicode"])[1])
    way = next(way for way in ways_of(end.played) if way.name == name)
    assert (way.steps, way.sent) == (end.player.last, most)


@pytest.mark.parametrize(
    ("name", "index", "words"),
    [
        ("ring-all-reduce", 0, "cut into 8 blocks of 128 MiB"),
        ("ring-all-gather", 0, "every rank holds one of 8 blocks of 128 MiB"),
        ("ring-broadcast", 0, "r0 alone holds the array, cut into"),
        ("tree-all-reduce", 0, "every rank holds its own array of 1 GiB, which stays in one piece"),
        ("tree-broadcast", 0, "r0 alone holds the array of 1 GiB, which stays in one piece"),
        ("ring-all-reduce", 3, "r0 adds b4 from r7: 4 of 8 ranks in it; sends b5 to r1"),
        ("ring-all-reduce", 9, "r0 receives b6 from r7; sends b7 to r1"),
        ("tree-all-reduce", 2, "r0 adds b0 from r2: 4 of 8 ranks in it"),
        ("tree-broadcast", 1, "sends b0 to r4"),
        ("all-to-all", 2, "r0 receives b6 from r6; sends b2 to r2"),
    ],
)
def test_what_a_step_does(collective: MakeSight, name: str, index: int, words: str) -> None:
    rows = step_rows(collective(name, 8, index), 100, PENS["unicode"])
    assert words in " ".join(map(text, rows))


def test_a_rank_without_a_message_waits(collective: MakeSight) -> None:
    rows = step_rows(collective("tree-all-reduce", 8, 2, rank=1), 100, PENS["unicode"])
    assert "r1 waits" in text(rows[1])


@pytest.mark.parametrize("pen", list(PENS))
@pytest.mark.parametrize(("width", "height"), [(60, 8), (80, 14), (160, 36), (200, 41)])
@pytest.mark.parametrize(
    ("name", "ranks", "per_node"),
    [("ring-all-reduce", 2, 2), ("ring-all-reduce", 8, 4), ("tree-all-reduce", 16, 16),
     ("all-to-all", 128, 8), ("hierarchical-all-reduce", 64, 8)],
)  # fmt: skip
def test_the_picture_fills_its_box_and_no_more(
    collective: MakeSight, pen: str, width: int, height: int, name: str, ranks: int, per_node: int
) -> None:
    sight = collective(name, ranks, 1, per_node=per_node, rank=ranks - 1)
    nodes = sight.nodes if sight.nodes > 1 else 0
    layout = layout_of(sight, Box(width, height), nodes, big=PENS[pen].big)
    rows = (head_row(sight, layout, width, PENS[pen]), *grid_rows(sight, layout, width, PENS[pen]))
    assert {row_width(row) for row in rows} == {width}
    assert len(rows) - 1 <= height
    assert len(rows) - 1 == layout.height_with(sight.nodes)
    assert sight.rank in layout.ranks
    if pen == "ascii":
        assert all(text(row).isascii() for row in rows)


@pytest.mark.parametrize(
    ("ranks", "width", "height", "words"),
    [
        (8, 80, 14, ""),
        (64, 80, 14, "r0-13 of 64 ranks"),
        (128, 80, 14, "r0-13 of 128 ranks   2 blocks a cell"),
    ],
)
def test_what_is_not_on_the_screen_is_told(
    collective: MakeSight, ranks: int, width: int, height: int, words: str
) -> None:
    sight = collective("ring-all-reduce", ranks, 1)
    assert window_text(sight, layout_of(sight, Box(width, height), 0)) == words


def test_the_window_follows_the_chosen_rank(collective: MakeSight) -> None:
    layout = layout_of(collective("ring-all-reduce", 64, 1, rank=40), Box(80, 14), 0)
    assert layout.ranks == range(33, 47)


def test_a_rank_says_what_arrives_and_that_it_left_its_node(collective: MakeSight) -> None:
    sight = collective("ring-all-reduce", 8, 1, per_node=4)
    rows = [text(row) for row in grid_rows(sight, layout_of(sight, Box(80, 14), 2), 80, PENS["unicode"])]
    assert [row.split()[1:] for row in rows if "node" in row] == [
        ["node", "0", rows[0].split()[3]],
        ["node", "1", rows[5].split()[3]],
    ]
    assert "b7 from r7" not in rows[1]
    assert "b6 from r7 ✗" in rows[1]
    assert "128.0 MiB" in rows[1]


def test_done_blocks_carry_their_mark_and_the_number_of_ranks(collective: MakeSight) -> None:
    sight = collective("ring-all-reduce", 4, 6)
    row = grid_rows(sight, layout_of(sight, Box(80, 4), 0), 80, PENS["unicode"])[0]
    assert text(row).count("✓4") == 2
    assert {span.role for span in row} >= {"activations_fill", "cursor", "selection"}


@pytest.mark.parametrize("pen", list(PENS))
@pytest.mark.parametrize("width", [60, 80, 160])
def test_track_and_legend_are_as_wide_as_asked(collective: MakeSight, pen: str, width: int) -> None:
    sight = collective("hierarchical-all-reduce", 16, 5, per_node=4)
    layout = layout_of(sight, Box(width, 10), 0)
    rows = (*strip_rows(sight, width, PENS[pen]), legend_row(sight, layout, width, PENS[pen]))
    assert {row_width(row) for row in rows} == {width}
    assert "step 5" in text(rows[0])
    assert len({span.role for span in rows[1]}) == 2


def test_the_table_of_algorithms_keeps_the_one_that_is_played(collective: MakeSight) -> None:
    sight = collective("hierarchical-all-reduce", 16, 5, per_node=4)
    rows = [text(row) for row in ways_rows(sight, Box(80, 4), PENS["unicode"])]
    assert len(rows) == 4
    assert "▶ hierarchical" in rows[-1]
    assert ways_rows(sight, Box(80, 2), PENS["unicode"]) == ()


def test_only_a_piece_leaves_the_nodes_in_a_hierarchy(collective: MakeSight) -> None:
    ways = {way.name: way for way in ways_of(collective("ring-all-reduce", 16, 0, per_node=4).played)}
    assert ways["hierarchical-all-reduce"].crossing == 16 * 2 * 3 * (1 << 30) // 16
    assert ways["ring-all-reduce"].crossing == 4 * 30 * (1 << 30) // 16


def test_places_of_a_row_are_named_by_the_ranks_of_the_readers_group(scenario: MakeScenario) -> None:
    """tp 4 x dp 4: the ranks that share the data with rank 9 are 1, 5, 9 and 13."""
    made = scenario(gpus=16, tp=4)
    rows = traffic(made, 0).implemented
    place = next(index for index, row in enumerate(rows) if row.group == "fsdp")
    choice = seated(made, rows, of_row(made, rows, place), Seat(9))
    assert choice.members == (1, 5, 9, 13)
    assert place_of(choice, 9) == 2
    sight = sight_of(choice, Playback(1.0), 2, 1)
    words = text(step_rows(sight, 80, PENS["unicode"])[1]) + text(answer_row(sight, 120, PENS["unicode"]))
    assert "r9 " in words
    assert "r13" in words
    assert "r2 " not in words
    labels = [
        text(row)[1:6].strip()
        for row in grid_rows(sight, layout_of(sight, Box(80, 4), 0), 80, PENS["unicode"])
    ]
    assert labels == ["r1", "r5", "r9", "r13"]


def test_a_group_that_the_reader_makes_up_has_ranks_of_its_own(scenario: MakeScenario) -> None:
    made = scenario(gpus=16, tp=4)
    rows = traffic(made, 0).implemented
    free = next_op(seated(made, rows, opened(made, rows, None), Seat(9)))
    assert seated(made, rows, free, Seat(9)).members == ()
    assert place_of(free, 9) == 0


def test_ranks_of_a_group_cut_short_are_its_first(scenario: MakeScenario) -> None:
    """256 ranks of one group are played as 128 of them."""
    made = scenario(gpus=256)
    rows = traffic(made, 0).implemented
    place = next(index for index, row in enumerate(rows) if row.group == "fsdp")
    assert seated(made, rows, of_row(made, rows, place), Seat(200)).members == tuple(range(128))
