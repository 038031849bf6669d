"""The step player's strategies, moments and rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from scaletui.state.playback import Playback
from scaletui.state.step_play import COMPARED, Sight, strategies, take_of, takes_of
from scaletui.text.glyphs import ASCII, MONO, UNICODE
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.step_clock import column_of, frame_at, pair_text, phases_row, playhead_row, short_size
from scaletui.view.step_lanes import lane_rows, window_of, window_text
from scaletui.view.step_memory import beside_rows, chart_rows, curve_of, legend_row, playhead
from scaletui.view.step_ranks import rank_rows
from scaletui.view.step_words import answer_row, frame_name, word_rows
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.step_frames import Act

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario

    MakeSight = Callable[..., Sight]
    MakeScenario = Callable[..., Scenario]

PENS = {"unicode": Pen(UNICODE), "mono": Pen(MONO), "ascii": Pen(ASCII), "big": Pen(UNICODE, big=True)}
PEN = PENS["unicode"]
LARGE = {"model": "llama3.1-405b", "gpus": 512, "tp": 8}


def text(row: Row) -> str:
    return "".join(span.text for span in row)


def at(sight: Sight, act: Act, name: str) -> int:
    """The first frame of an act on a unit."""
    return next(
        index
        for index, frame in enumerate(sight.step.frames)
        if frame.act is act and frame.unit is not None and sight.step.units[frame.unit].name == name
    )


def test_the_plans_own_strategy_is_compared_too(scenario: MakeScenario) -> None:
    assert strategies(scenario()) == COMPARED
    assert strategies(scenario(gpus=16, strategy=Strategy.HSDP))[0] is Strategy.HSDP


def test_a_strategy_that_the_plan_cannot_have_says_why(scenario: MakeScenario) -> None:
    take = take_of(scenario(gpus=16, pp=2, global_batch=32), Strategy.ZERO2)
    assert take.step is None
    assert "zero2 with pp 2" in take.why


@pytest.mark.parametrize("strategy", COMPARED)
@pytest.mark.parametrize("batch", [8, 16, 72])
def test_moments_never_go_back(scenario: MakeScenario, strategy: Strategy, batch: int) -> None:
    moments = take_of(scenario(global_batch=batch), strategy).moments
    assert all(before <= after for before, after in pairwise(moments))
    assert len(set(moments)) > 60


def test_the_same_moment_under_every_strategy(step: MakeSight) -> None:
    """While layer 12 runs backward under FSDP it has run backward under DDP, and no later one has."""
    fsdp = step(Strategy.FSDP, 0)
    sight = step(Strategy.FSDP, at(fsdp, Act.BACKWARD, "layers.12"))
    for take in sight.takes.takes:
        frame = sight.beside(take)
        assert frame is not None
        assert take.step is not None
        done = [name for name, state in zip(take.step.units, frame.gradients, strict=True) if state]
        assert done[0].name == "layers.12"
        assert (
            take.at(sight.moment)
            == take.moments.index(sight.moment)
            + len([moment for moment in take.moments if moment == sight.moment])
            - 1
        )
    assert sight.beside(sight.take) is sight.frame


def test_the_first_line_answers_the_question(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, at(step(Strategy.FSDP, 0), Act.GATHER, "layers.12"))
    line = text(answer_row(sight, 80, PEN)).strip()
    assert line == "fsdp on 8 ranks: gather layers.12   14.0 GiB held, peak 20.3, sent 6.3 of 50.3"
    assert "14.0 GiB held" in text(answer_row(sight, 60, PEN))


@pytest.mark.parametrize(
    ("strategy", "act", "unit", "words"),
    [
        (
            Strategy.FSDP,
            Act.GATHER,
            "layers.12",
            "ahead of time: slices of layers.12 arrive while another unit",
        ),
        (Strategy.FSDP, Act.GATHER, "embedding", "embedding and head becomes whole on every rank"),
        (Strategy.FSDP, Act.FREE, "layers.12", "every rank drops all but its own slice (-416.0 MiB)"),
        (Strategy.FSDP, Act.BACKWARD, "layers.12", "weights are whole, its gradient comes to be"),
        (
            Strategy.FSDP,
            Act.REDUCE,
            "layers.12",
            "each rank gets its slice of the sum of layers.12 (728.0 MiB",
        ),
        (
            Strategy.DDP,
            Act.REDUCE,
            "layers.12",
            "the gradients of layers.12 are summed over all ranks (1.4 GiB",
        ),
        (Strategy.DDP, Act.FORWARD, "layers.12", "forward pass of layers.12"),
        (
            Strategy.ZERO1,
            Act.BACKWARD,
            "layers.12",
            "backward pass of layers.12: the gradient of this rank's part",
        ),
    ],
)
def test_what_happens_in_words(step: MakeSight, strategy: Strategy, act: Act, unit: str, words: str) -> None:
    sight = step(strategy, at(step(strategy, 0), act, unit))
    rows = word_rows(sight, 120, PEN)
    assert len(rows) == 2
    assert words in " ".join(text(row).strip() for row in rows)


@pytest.mark.parametrize(
    ("strategy", "index", "words"),
    [
        (Strategy.FSDP, 0, "8 ranks share the batch"),
        (Strategy.FSDP, -1, "the step is over"),
        (Strategy.FSDP, -2, "updates the rank's own slice"),
        (Strategy.DDP, -2, "the optimizer updates all weights"),
        (Strategy.ZERO1, -2, "every rank has all new weights again"),
    ],
)
def test_how_a_step_begins_and_ends_in_words(
    step: MakeSight, strategy: Strategy, index: int, words: str
) -> None:
    assert words in text(word_rows(step(strategy, index), 120, PEN)[0])


def test_microbatches_that_are_left_out_are_told(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, 0, global_batch=72)
    index = next(i for i, frame in enumerate(sight.step.frames) if frame.act is Act.SKIP)
    assert "9 in all" in text(word_rows(step(Strategy.FSDP, index, global_batch=72), 120, PEN)[0])


def test_units_light_up_as_they_are_gathered(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, at(step(Strategy.FSDP, 0), Act.FORWARD, "layers.12"))
    pointer, weights, gradients, optimizer, _ = lane_rows(sight, 80, PEN)
    assert text(pointer).strip() == "▼ layers.12"
    lane = text(weights)[12:]
    assert lane == "██" + "▂▂" * 12 + "F " + "▄▄" + "▂▂" * 18 + "██"
    assert text(pointer).index("▼") == text(weights).index("F")
    assert text(gradients)[12:].strip() == ""
    assert text(optimizer)[12:] == "▂▂" * 34
    assert {span.role for span in weights} >= {"unsharded", "weights", "forward_fill"}


def test_gradients_become_slices(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, at(step(Strategy.FSDP, 0), Act.REDUCE, "layers.12"))
    gradients = text(lane_rows(sight, 80, PEN)[2])[12:]
    assert gradients == "  " * 13 + "R " + "▂▂" * 19 + "██"


def test_under_ddp_everything_is_whole_for_ever(step: MakeSight) -> None:
    sight = step(Strategy.DDP, -2)
    _, weights, gradients, optimizer, _ = lane_rows(sight, 80, PEN)
    assert text(weights)[12:] == text(gradients)[12:] == "██" * 34
    assert text(optimizer)[12:] == "O " * 34


def test_of_126_layers_a_stretch_is_shown_around_the_one_that_runs(step: MakeSight) -> None:
    index = at(step(Strategy.FSDP, 0, **LARGE), Act.FORWARD, "layers.60")
    sight = step(Strategy.FSDP, index, **LARGE)
    window = window_of(sight, 80)
    assert (len(window.units), window.cell) == (68, 1)
    assert 61 in window.units
    assert window_text(sight, 80) == "layers.26 to layers.93, of 128"
    assert window_text(sight, 160) == ""


@pytest.mark.parametrize("pen", list(PENS))
@pytest.mark.parametrize("width", [60, 80, 160, 200])
@pytest.mark.parametrize("strategy", COMPARED)
def test_rows_are_as_wide_as_asked(step: MakeSight, pen: str, width: int, strategy: Strategy) -> None:
    chosen = PENS[pen]
    for index in (0, 40, 90, -2):
        sight = step(strategy, index)
        rows = (
            answer_row(sight, width, chosen), *word_rows(sight, width, chosen),
            *lane_rows(sight, width, chosen), *chart_rows(sight, Box(width, 6), chosen),
            playhead(sight, width, chosen), *beside_rows(sight, Box(width, 16), chosen),
            legend_row(sight, width, chosen), *rank_rows(sight, Box(width, 9), chosen),
        )  # fmt: skip
        assert {row_width(row) for row in rows} == {width}
        if pen == "ascii":
            assert all(text(row).isascii() for row in rows)


def test_the_curve_is_as_high_as_the_frames_and_keeps_the_peak(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, 0)
    peak = sight.step.frames[sight.step.peak].parts
    for columns in (10, 68, 1000):
        curve = curve_of(sight.step, columns)
        assert len(curve) == columns
        assert max(curve, key=sum) == peak
        assert curve[0] == sight.step.frames[0].parts or columns < len(sight.step.frames)


def test_the_peak_is_marked(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, 0)
    head = text(chart_rows(sight, Box(80, 2), PEN)[0])
    assert "peak 20.3 GiB at reduce embedding and head" in head
    assert frame_name(sight.step, sight.step.frames[sight.step.peak]) == "reduce embedding and head"


def test_a_peak_between_two_steps_is_at_no_unit(step: MakeSight) -> None:
    head = text(chart_rows(step(Strategy.ZERO1, 0), Box(80, 2), PEN)[0])
    assert head.rstrip().endswith("GiB, between two steps")


def test_the_chart_stacks_the_parts(step: MakeSight) -> None:
    rows = chart_rows(step(Strategy.FSDP, 0), Box(80, 8), PEN)[1:-1]
    assert len(rows) == 8
    bottom, top = {span.role for span in rows[-1]}, {span.role for span in rows[0]}
    assert "weights_fill" in bottom
    assert top & {"unsharded", "unsharded_fill"}
    assert "weights_fill" not in top


@pytest.mark.parametrize(("index", "column"), [(0, 12), (-1, 79)])
def test_the_playhead_stands_under_its_frame(step: MakeSight, index: int, column: int) -> None:
    assert text(playhead(step(Strategy.FSDP, index), 80, PEN)).index("▲") == column


def test_one_bar_a_strategy_with_held_and_sent(step: MakeSight) -> None:
    sight = step(Strategy.FSDP, -2)
    head, *bars = (text(row) for row in beside_rows(sight, Box(80, 6), PEN))
    assert "held" in head
    assert "sent" in head
    assert [bar.split()[0].strip("▶") for bar in bars] == [strategy.value for strategy in COMPARED]
    assert bars[-1].startswith(" ▶fsdp")
    assert "over" in bars[0]
    assert bars[-1].split()[-1] == PEN.numbers.gib(sight.frame.sent)


@pytest.mark.parametrize(
    ("height", "names"), [(1, ["▶zero1"]), (2, ["▶zero1"]), (4, ["ddp", "▶zero1", "zero2"]), (9, ["ddp"])]
)
def test_of_many_bars_the_own_one_stays(step: MakeSight, height: int, names: list[str]) -> None:
    rows = [text(row) for row in beside_rows(step(Strategy.ZERO1, 40), Box(80, height), PEN)]
    bars = rows if height == 1 else rows[1:]
    assert [bar.split()[0] for bar in bars][: len(names)] == names
    assert len(rows) == min(height, 6)


def test_a_strategy_that_cannot_be_is_named_without_a_bar(step: MakeSight) -> None:
    bars = [
        text(row)
        for row in beside_rows(step(Strategy.FSDP, 5, gpus=16, pp=2, global_batch=32), Box(80, 6), PEN)
    ]
    assert bars[3].strip().startswith("zero2")
    assert "not with this plan" in bars[3]


def test_slices_of_a_unit_on_every_rank(step: MakeSight) -> None:
    first = step(Strategy.FSDP, 0)
    backward = step(Strategy.FSDP, at(first, Act.BACKWARD, "layers.12"))
    rows = [text(row) for row in rank_rows(backward, Box(80, 12), PEN)]
    assert len(rows) == 9
    assert "slices of layers.12 on every rank" in rows[0]
    for rank, row in enumerate(rows[1:]):
        cells = row[24:].split("gradients")[0].split()
        assert [cell[0] for cell in cells] == ["W" if place == rank else "U" for place in range(8)]
    assert rank_rows(backward, Box(80, 5), PEN) == ()


@pytest.mark.parametrize(
    ("position", "last", "columns", "column"),
    [(0, 10, 80, 0), (10, 10, 80, 79), (5, 10, 81, 40), (3, 0, 1, 0)],
)
def test_columns_of_the_playhead(position: float, last: int, columns: int, column: int) -> None:
    assert column_of(position, last, columns) == column


@pytest.mark.parametrize(("last", "columns"), [(14, 80), (230, 68), (888, 68), (0, 80)])
def test_a_click_on_the_playhead_leaves_it_where_it_is(last: int, columns: int) -> None:
    for frame in range(last + 1):
        column = column_of(frame, last, columns)
        assert abs(frame_at(column, last, columns) - frame) <= last // columns + 1
    assert frame_at(columns - 1, last, columns) == last
    assert frame_at(-3, last, columns) == 0


def test_words_of_the_playhead_stand_where_there_is_room() -> None:
    assert text(playhead_row(2, "step 1", 20, PEN)) == "  ▼ step 1          "
    assert text(playhead_row(19, "step 9", 20, PEN)) == "            step 9 ▼"


def test_phases_share_the_track_by_their_frames() -> None:
    row = phases_row([("one", 1), ("three: x", 3)], 4, 20)
    assert [(len(span.text), span.role) for span in row] == [(5, "tile_fill"), (15, "tile_odd_fill")]
    assert text(phases_row([("inside: scatter", 1), ("b", 1)], 2, 20)).startswith("  inside")


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 1 << 30, "0 B of 1 GiB"), (3 << 29, 1 << 31, "1.5 of 2 GiB"), (1 << 20, 1 << 30, "1 MiB of 1 GiB")],
)
def test_two_sizes_with_one_unit(part: int, whole: int, words: str) -> None:
    assert pair_text(part, whole, PEN) == words


@pytest.mark.parametrize(
    ("value", "words"), [(1 << 30, "1 GiB"), (832 << 20, "832 MiB"), (1500 << 20, "1.5 GiB")]
)
def test_sizes_without_a_decimal_that_says_nothing(value: int, words: str) -> None:
    assert short_size(value, PEN) == words


def test_all_strategies_are_played(scenario: MakeScenario) -> None:
    found = takes_of(scenario())
    assert [take.strategy for take in found.takes] == list(COMPARED)
    assert all(take.step is not None for take in found.takes)


@pytest.mark.parametrize(
    ("strategy", "options", "act", "words"),
    [
        (Strategy.FSDP, {"gpus": 1}, Act.START, "the rank holds its states and no more"),
        (Strategy.FSDP, {"gpus": 1}, Act.GATHER, "is whole on the rank"),
        (Strategy.FSDP, {"gpus": 1}, Act.REDUCE, "is the whole sum"),
        (Strategy.HSDP, {"dp_replicate": 8, "strategy": Strategy.HSDP}, Act.REDUCE, "summed over all ranks"),
        (
            Strategy.FSDP1,
            {"dp_replicate": 8, "strategy": Strategy.FSDP1},
            Act.REDUCE,
            "a gradient of its own",
        ),
        (Strategy.HSDP, {"dp_replicate": 8, "strategy": Strategy.HSDP}, Act.STEP, "does the same work"),
    ],
)
def test_words_where_the_ranks_of_a_slice_are_one(
    scenario: MakeScenario, strategy: Strategy, options: dict[str, object], act: Act, words: str
) -> None:
    takes = takes_of(scenario(**options))
    take = takes.named(strategy)
    assert take.step is not None
    index = next(place for place, frame in enumerate(take.step.frames) if frame.act is act)
    rows = word_rows(Sight(takes, take, take.step, index, Playback(float(index))), 120, PEN)
    assert words in " ".join(text(row).strip() for row in rows)


def test_one_rank_is_one(step: MakeSight) -> None:
    assert "fsdp on 1 rank:" in text(answer_row(step(Strategy.FSDP, 0, gpus=1), 120, PEN))
