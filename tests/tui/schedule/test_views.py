"""Rows of the schedule screen: what each size, glyph set and switch shows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.playback import Playback
from scaletui.state.schedule import Messages, Unit, Update
from scaletui.text.glyphs import ASCII, MONO
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.schedule import answer_rows, below_rows, details_rows, legend_row, packed
from scaletui.view.schedule_bubble import bubble_panel, bubble_row
from scaletui.view.schedule_cursor import cursor_lines
from scaletui.view.schedule_explain import explain_rows
from scaletui.view.schedule_head import axis_row, head_rows, playhead_row
from scaletui.view.schedule_lanes import label_width, lane_rows
from scaletui.view.schedule_layout import HEAD, WIDE_WORDS, WORDS, layout_of
from scaletui.view.schedule_names import schedule_sentence
from scaletui_engine.schedule_rules import schedule_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.schedule_sight import Sight
    from scaletui.view.row import Row

    MakeSight = Callable[..., Sight]

PEN = Pen()


def text(row: Row) -> str:
    return "".join(span.text for span in row).rstrip()


def drawn(sight: Sight, box: Box, pen: Pen = PEN) -> list[Row]:
    """Title, playhead and lanes."""
    layout = layout_of(sight, Box(box.width - 5, box.height), pen, WORDS)
    return [*head_rows(sight, layout, box.width, pen), *lane_rows(sight, layout, box.width, pen)]


def lanes(sight: Sight, width: int = 80, pen: Pen = PEN) -> list[str]:
    """The lanes without title and playhead, as text."""
    return [text(row) for row in drawn(sight, Box(width, 20), pen)[HEAD:]]


def test_four_ranks_with_their_memory_in_80_columns(make_sight: MakeSight) -> None:
    shown = lanes(make_sight())
    assert shown[0].startswith("▶r0    0 1 2 3             0   4 1   5 2")
    assert shown[1].startswith(" mem 4 ▂▂▄▄▆▆██")
    assert [line.split()[0] for line in shown[::2]] == ["▶r0", "r1", "r2", "r3"]


def test_letters_where_hues_may_fail(make_sight: MakeSight) -> None:
    shown = lanes(make_sight(strips=False), pen=Pen(ASCII))
    assert shown[0].startswith(">r0  F0F1F2F3............B0  F4B1  F5B2")
    assert all(line.isascii() for line in shown)


@pytest.mark.parametrize(("strips", "lanes"), [(True, 17), (False, 16)])
def test_sixteen_ranks_and_the_memory_of_the_chosen_one(
    make_sight: MakeSight, strips: bool, lanes: int
) -> None:
    sight = make_sight(ranks=16, microbatches=16, rank=5, strips=strips)
    layout = layout_of(sight, Box(75, 20), PEN, WORDS)
    assert (len(layout.groups), layout.lanes, layout.strips) == (16, lanes, (5,) if strips else ())


@pytest.mark.parametrize("ranks", [4, 8, 12, 15, 16, 20])
@pytest.mark.parametrize("strips", [True, False], ids=["strips", "no strips"])
@pytest.mark.parametrize("name", ["1f1b", "zb-v"])
def test_all_four_bubbles_are_on_a_small_screen(
    name: str, strips: bool, ranks: int, make_sight: MakeSight
) -> None:
    sight = make_sight(name, ranks=ranks, microbatches=2 * ranks, strips=strips)
    box = Box(80, 20)
    rows = drawn(sight, box)
    rows = [*answer_rows(sight, 80, PEN), *rows, *below_rows(sight, 11, Box(80, 20 - len(rows)), PEN)]
    shown = "\n".join(map(text, rows))
    bubble = sight.own.bubble
    for letter, share in (("A", bubble.over_ideal), ("B", bubble.over_makespan), ("C", bubble.zero_bubble)):
        assert re.search(rf"\b{letter}\b.*\b{share * 100:.1f} %", shown)
    assert re.search(r"\bD\b.*\d t", shown)


@pytest.mark.parametrize("messages", Messages)
def test_the_rule_makes_room_for_bubbles_in_seconds_too(messages: Messages, make_sight: MakeSight) -> None:
    sight = make_sight(ranks=16, microbatches=16, unit=Unit.SECONDS, messages=messages)
    title = text(head_rows(sight, layout_of(sight, Box(75, 20), PEN, WORDS), 80, PEN)[0])
    bubble = sight.own.bubble
    least, most = min(bubble.per_rank), max(bubble.per_rank)
    assert re.match(r"─ (seconds|s), estimated", title)
    assert f"C {bubble.zero_bubble * 100:.1f} %  D {least:.3f}-{most:.3f} s" in title


@pytest.mark.parametrize(
    ("rows", "width", "kept"),
    [
        (3, 20, ["r0 F0", "feeds r1 F0", "holds 1"]),
        (2, 24, ["r0 F0", "feeds r1 F0   holds 1"]),
        (2, 20, ["r0 F0", "feeds r1 F0"]),
        (1, 40, ["r0 F0   feeds r1 F0   holds 1"]),
        (1, 20, ["r0 F0   feeds r1 F0"]),
        (1, 10, ["r0 F0"]),
    ],
)
def test_few_rows_take_as_many_sentences_as_they_hold(rows: int, width: int, kept: list[str]) -> None:
    assert packed(("r0 F0", "feeds r1 F0", "holds 1"), rows, width) == kept


def test_one_row_tells_the_action_and_what_hangs_on_it(make_sight: MakeSight) -> None:
    sight = make_sight(ranks=16, microbatches=16, rank=3, playback=Playback(10.0))
    (row,) = below_rows(sight, 11, Box(80, 1), PEN)
    assert text(row) == "▶ r3 F7 (forward): 10 to 11   needs r2 F7   feeds r3 B7, r4 F7"


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (84, "bubble A 46.9 %  C 31.9 %  D 45 t"),
        (77, " A 46.9 %  C 31.9 %  D 45 t"),
        (61, " A 46.9 %  C 31.9 %  D 45 t"),
        (50, "─ C 31.9 %  D 45 t"),
        (40, "─ C 31.9 %  0-35"),
        (32, "free ─"),
    ],
)
def test_a_narrow_rule_keeps_the_definitions_that_it_has_room_for(
    width: int, words: str, make_sight: MakeSight
) -> None:
    sight = make_sight(ranks=16, microbatches=32)
    layout = layout_of(sight, Box(75, 20), PEN, WORDS)
    assert layout.bare
    title = text(head_rows(sight, layout, width, PEN)[0])
    assert words in title
    assert title.count("%") == words.count("%")


@pytest.mark.parametrize("ranks", [4, 8, 12, 16])
@pytest.mark.parametrize("microbatches", [16, 64, 512])
@pytest.mark.parametrize("name", ["1f1b", "zb-h1"])
def test_up_to_sixteen_ranks_open_with_their_microbatches(
    name: str, microbatches: int, ranks: int, make_sight: MakeSight
) -> None:
    shown = lanes(make_sight(name, ranks=ranks, microbatches=microbatches, strips=False))
    assert len(shown) >= ranks
    assert re.match(r".r0 +0+ *1+ *2+ *3", shown[0])


def test_the_opened_page_follows_the_playhead(make_sight: MakeSight) -> None:
    sight = make_sight(ranks=16, microbatches=512, strips=False, rank=15, playback=Playback(1000.0))
    assert not sight.is_dense(sight.own, 75)
    assert 0 <= sight.stretch(75).column(1000.0) < 75
    near = sight.near().actions[0]
    assert str(near.microbatch)[-1] in lanes(sight)[15]


@pytest.mark.parametrize(
    "options", [{"ranks": 32, "microbatches": 512}, {"ranks": 16, "beside": ("gpipe",)}, {"zoom": 0}], ids=str
)
def test_more_ranks_a_comparison_and_zoom_0_show_the_whole(
    options: dict[str, object], make_sight: MakeSight
) -> None:
    sight = make_sight(**options)
    assert sight.zoom(75) == 0
    assert sight.stretch(75).end >= sight.picture.makespan


def test_strips_fold_to_the_chosen_rank(make_sight: MakeSight) -> None:
    sight = make_sight(ranks=8, rank=5)
    assert layout_of(sight, Box(75, 20), PEN, WORDS).strips == (5,)
    assert layout_of(sight, Box(75, 40), PEN, WORDS).strips == tuple(range(8))


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        pytest.param({}, [(0, 4), (4, 8), (8, 12), (12, 16), (16, 20), (20, 24), (24, 28), (28, 32)],
                     id="dense: several ranks a lane"),
        pytest.param({"zoom": 6, "rank": 20}, [(rank, rank + 1) for rank in range(16, 24)],
                     id="close: the ranks around the chosen one"),
    ],
)  # fmt: skip
def test_more_ranks_than_rows(
    make_sight: MakeSight, options: dict[str, int], groups: list[tuple[int, int]]
) -> None:
    sight = make_sight(ranks=32, microbatches=64, strips=False, **options)
    layout = layout_of(sight, Box(75, HEAD + 8 + WORDS[-1]), PEN, WORDS)
    assert [(group.start, group.stop) for group in layout.groups] == groups
    title = text(head_rows(sight, layout, 80, PEN)[0])
    assert ("r16-23 of 32" in title) == ("zoom" in options)


@pytest.mark.parametrize("pen", [PEN, Pen(MONO, big=True), Pen(ASCII)], ids=["unicode", "mono big", "ascii"])
@pytest.mark.parametrize("box", [Box(60, 13), Box(110, 46)], ids=str)
@pytest.mark.parametrize("options", [
    {}, {"name": "zb-v", "chunks": 2, "critical": True}, {"name": "dualpipe"}, {"name": "seq1f1b", "zoom": 2},
    {"beside": ("gpipe", "interleaved-1f1b")}, {"ranks": 16, "microbatches": 64}, {"unit": Unit.SECONDS},
], ids=str)  # fmt: skip
def test_every_row_is_as_wide_as_its_box_and_none_is_beyond_it(
    make_sight: MakeSight, options: dict[str, object], box: Box, pen: Pen
) -> None:
    sight = make_sight(**options)
    rows = drawn(sight, box, pen)
    below = below_rows(sight, 5, Box(box.width, max(box.height - len(rows), 0)), pen)
    side = (*details_rows(sight, box, pen), *explain_rows(sight, box, pen))
    every = (*answer_rows(sight, box.width, pen), *rows, *below, *side, legend_row(sight, box.width, pen))
    assert {row_width(row) for row in every} == {box.width}
    assert len(rows) + len(below) <= box.height


def test_only_the_playhead_row_moves_while_time_runs(make_sight: MakeSight) -> None:
    playing = make_sight(playback=Playback(3.0, 1, True))
    later = replace(playing, look=replace(playing.look, playback=Playback(3.5, 1, True)))
    before, after = drawn(playing, Box(80, 20)), drawn(later, Box(80, 20))
    assert [y for y, (old, new) in enumerate(zip(before, after, strict=True)) if old != new] == [1]


def test_paused_the_cursor_and_what_hangs_on_it_are_lit(make_sight: MakeSight) -> None:
    rows = drawn(make_sight(rank=1, playback=Playback(9.0)), Box(80, 20))
    lit = {(y, span.text.strip()) for y, row in enumerate(rows) for span in row if span.role == "selection"}
    (cursor,) = [
        (y, span.text.strip()) for y, row in enumerate(rows) for span in row if span.role == "cursor"
    ]
    assert cursor == (4, "0")
    assert lit == {(2, "0"), (4, "0"), (6, "0")}


def test_all_but_the_critical_path_fades(make_sight: MakeSight) -> None:
    sight = make_sight(critical=True, playback=Playback(playing=True))
    filled = [span for row in drawn(sight, Box(80, 20)) for span in row if span.role.endswith("_fill")]
    assert sum(len(span.text) for span in filled) == 2 * sight.own.makespan


@pytest.mark.parametrize(
    ("position", "expected"),
    [(0, "     ▼ 0"), (3.5, "            ▼ 3.5"), (33, " " * 71 + "▼ 33")],
)
def test_the_playhead_has_its_time_beside_it(make_sight: MakeSight, position: float, expected: str) -> None:
    assert text(playhead_row(make_sight(playback=Playback(position)), 5, 80, PEN)) == expected


def test_a_playhead_out_of_view_says_where_it_is(make_sight: MakeSight) -> None:
    sight = make_sight(zoom=2, pan=4)
    assert text(playhead_row(sight, 5, 80, PEN)) == "     ‹ 0"


def test_round_times_on_the_axis(make_sight: MakeSight) -> None:
    assert text(axis_row(make_sight(), 5, 80, PEN)).split() == ["0", "5", "10", "15", "20", "25", "30", "35"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, " 1f1b  p 4  m 8  33 t  bubble B 27.3 %   peak 4 microbatches (rank 0)"),
        ({"name": "zb-v", "chunks": 2},
         " zb-v  p 4  m 8  v 2  51 t  bubble B 5.9 %   peak 4 microbatches (rank 0)"),
        ({"name": "interleaved-zero-bubble", "chunks": 2},
         " interleaved-zero-bubble  p 4  m 8  v 2  51 t  bubble B 5.9 %  peak 4 (r0)"),
    ],
)  # fmt: skip
def test_the_first_line_answers(make_sight: MakeSight, options: dict[str, object], expected: str) -> None:
    (row,) = answer_rows(make_sight(**options), 80, PEN)
    assert text(row) == expected


def test_one_microbatch_is_one(make_sight: MakeSight) -> None:
    (row,) = answer_rows(make_sight(microbatches=1), 80, PEN)
    assert text(row).endswith("peak 1 microbatch (rank 0)")


def test_four_definitions_by_name(make_sight: MakeSight) -> None:
    sight = make_sight("zb-h1")
    assert [text(row).split()[0] for row in bubble_panel(sight, 60, PEN)[1:]] == ["A", "B", "C", "D"]
    line = text(bubble_row(sight, 80, PEN))
    assert line == " bubble  A/ideal 12.5 %  B/makespan 11.1 %  C/zero-bubble 11.1 %  D/rank 3 t"


@pytest.mark.parametrize(
    ("rank", "position", "expected"),
    [
        (1, 9, "r1 B0 (backward): 8 to 10, waited for r2 B0"),
        (0, 6, "r0 idles from 4 to 10: waits for r1 B0, which ends at 10"),
        (3, 1, "r3 idles until 3: the pipeline fills; r2 F0 ends at 3"),
        (3, 30, "r3 idles from 27 on: the pipeline drains, nothing is left for it"),
    ],
)
def test_why_a_rank_works_or_idles(make_sight: MakeSight, rank: int, position: float, expected: str) -> None:
    assert cursor_lines(make_sight(rank=rank, playback=Playback(position)), PEN)[0] == expected


@pytest.mark.parametrize("name", schedule_names())
def test_every_schedule_has_its_sentence(name: str) -> None:
    assert len(schedule_sentence(name)) > 20


def test_a_cap_below_the_peak_is_told_by_number_and_role(make_sight: MakeSight) -> None:
    sight = replace(make_sight(), caps=(3.0, 9.0, 9.0, 9.0))
    rows = drawn(sight, Box(80, 20))
    assert text(rows[3]).startswith(" mem 4/3 ")
    assert {span.role for span in rows[3]} >= {"error", "over_fill"}
    assert label_width(sight, layout_of(sight, Box(75, 20), PEN, WORDS), PEN) == 9


def test_the_legend_names_what_occurs_in_any_run(make_sight: MakeSight) -> None:
    assert text(legend_row(make_sight(), 80, PEN)) == "  F  forward   B  backward"
    beside = text(legend_row(make_sight(beside=("zb-h1",)), 100, PEN))
    assert [beside.index(f" {letter} ") for letter in "FIWB"] == sorted(
        beside.index(f" {x} ") for x in "FIWB"
    )
    critical = text(legend_row(make_sight(ranks=32, microbatches=64, critical=True), 80, PEN))
    assert "filled: the critical path" in critical


def test_a_long_name_stands_apart_from_its_figures(make_sight: MakeSight) -> None:
    rows = drawn(make_sight(beside=("InterleavedZeroBubble",)), Box(80, 20))
    assert any(text(row).startswith(" InterleavedZeroBubble v 2   25.5 t") for row in rows)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1f1b", "weights of the rank: 8.5 GiB"),
        ("pipedream", "weights of the rank: 33.8 GiB, 4 versions"),
        ("dualpipe", "weights of the rank: 16.9 GiB, of both directions"),
    ],
)
def test_what_a_rank_holds_of_weights(name: str, expected: str, make_sight: MakeSight) -> None:
    """Llama 3 8B in fp32: 8 layers of 218,112,000 elements a rank, and 128,256 x 4,096 at both ends."""
    sight = make_sight(name)
    assert cursor_lines(sight, PEN)[-1] == expected


@pytest.mark.parametrize(
    ("name", "width", "end"),
    [
        ("1f1b", 80, "O  optimizer step; one every 34 t"),
        ("dualpipe", 84, "O  optimizer"),
        ("dualpipe", 80, "O"),
    ],
)
def test_the_legend_says_of_the_optimizer_what_fits(
    name: str, width: int, end: str, make_sight: MakeSight
) -> None:
    row = legend_row(make_sight(name, update=Update.TOGETHER), width, PEN)
    assert text(row).endswith(end)


@pytest.mark.parametrize("zoom", [0, 6])
@pytest.mark.parametrize("words", [WORDS, WIDE_WORDS], ids=["narrow", "wide"])
def test_more_ranks_than_rows_leave_the_chosen_one_its_memory(
    words: tuple[int, ...], zoom: int, make_sight: MakeSight
) -> None:
    sight = make_sight(ranks=32, microbatches=64, rank=20, zoom=zoom)
    layout = layout_of(sight, Box(75, 20), PEN, words)
    assert layout.strips == (20,)
    assert layout.lanes + HEAD + words[-1] <= 20
