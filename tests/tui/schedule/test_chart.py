"""Questions of a simulated schedule: cells, densities, memory, the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.schedule import Unit
from scaletui.state.schedule_look import Look, laid_beside, panned, ranked, zoomed
from scaletui.state.schedule_stretch import Stretch

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.schedule_sight import Sight

    MakeSight = Callable[..., Sight]

WHOLE = Stretch(0, 33, 33)


def letters(sight: Sight, stretch: Stretch, rank: int) -> str:
    """One letter a column."""
    (row,) = sight.own.chart.pieces(stretch, range(rank, rank + 1))
    return "".join(("." if piece.role == "idle" else piece.role[0]) * piece.columns for piece in row)


def test_1f1b_of_4_ranks_and_8_microbatches(make_sight: MakeSight) -> None:
    """(p - 1) / (m + p - 1) of the makespan idles: 3 / 11 (Narayanan et al., arXiv:2104.04473)."""
    sight = make_sight()
    assert sight.own.makespan == 33
    assert sight.own.bubble.over_makespan == pytest.approx(3 / 11)
    assert sight.own.peaks == (4, 3, 2, 1)
    assert letters(sight, WHOLE, 0) == "ffff......bbfbbfbbfbbfbb.bb.bb.bb"
    assert letters(sight, WHOLE, 3) == "...fbbfbbfbbfbbfbbfbbfbbfbb......"


def test_columns_finer_than_actions(make_sight: MakeSight) -> None:
    (row,) = make_sight().own.chart.pieces(Stretch(0, 4, 16), range(1, 2))
    assert [(piece.columns, piece.role, piece.microbatch) for piece in row] == [
        (4, "idle", 0), (4, "forward", 0), (4, "forward", 1), (4, "forward", 2),
    ]  # fmt: skip


def test_an_overlapped_pair_is_one_half_after_the_other(make_sight: MakeSight) -> None:
    sight = make_sight("dualpipev", 4, 8, chunks=2)
    table = sight.own.chart.timeline.table
    pair = int(table.joined.argmax())
    rank, start = int(table.rank[pair]), float(sight.own.chart.timeline.start[pair])
    (row,) = sight.own.chart.pieces(Stretch(start, start + 3, 6), range(rank, rank + 1))
    assert [(piece.role, piece.columns) for piece in row] == [("forward", 3), ("backward", 3)]


def test_memory_is_the_most_of_each_column(make_sight: MakeSight) -> None:
    chart = make_sight().own.chart
    assert chart.levels(Stretch(0, 6, 6), 0) == (1, 2, 3, 4, 4, 4)
    assert chart.levels(Stretch(0, 33, 3), 0) == (4, 4, 4)
    assert chart.levels(Stretch(26, 33, 7), 3) == (1, 0, 0, 0, 0, 0, 0)


def test_density_tells_the_kind_that_prevails_and_the_next(make_sight: MakeSight) -> None:
    (row,) = make_sight("1f1b", 4, 32).own.chart.shades(Stretch(30, 72, 7), (range(4),))
    steady = row[-1]
    assert (steady.role, steady.second, steady.busy) == ("backward", "forward", 2)
    assert sum(shade.columns for shade in row) == 7


def test_the_critical_path_is_on_one_rank_at_a_time(make_sight: MakeSight) -> None:
    sight = make_sight()
    rows = sight.own.chart.shades(WHOLE, tuple(range(rank, rank + 1) for rank in range(4)))
    marks = ["".join(".x"[shade.critical] * shade.columns for shade in row) for row in rows]
    assert all(sum(mark[column] == "x" for mark in marks) == 1 for column in range(33))


@pytest.mark.parametrize(
    ("rank", "time", "actions", "needs", "feeds", "reason", "awaited"),
    [
        (0, 0.5, ["F0"], [], ["B0 r0", "F0 r1"], "", None),
        (1, 9, ["B0"], ["B0 r2", "F0 r1"], ["B0 r0"], "", "B0 r2"),
        (0, 6, [], [], [], "wait", "B0 r1"),
        (3, 1, [], [], [], "fill", "F0 r2"),
        (3, 30, [], [], [], "drain", None),
    ],
)
def test_what_is_under_the_cursor(
    make_sight: MakeSight, rank: int, time: float, actions: list[str], needs: list[str], feeds: list[str],
    reason: str, awaited: str | None,
) -> None:  # fmt: skip
    near = make_sight().own.chart.near(rank, time)

    def text(named: object) -> str:
        return f"{named.letter}{named.microbatch} r{named.rank}"  # type: ignore[attr-defined]

    assert [f"{named.letter}{named.microbatch}" for named in near.actions] == actions
    assert ([text(named) for named in near.needs], [text(named) for named in near.feeds]) == (needs, feeds)
    assert near.reason == reason
    assert (near.waited_for and text(near.waited_for)) == awaited


def test_steps_stop_where_something_starts_or_ends(make_sight: MakeSight) -> None:
    chart = make_sight().own.chart
    assert [chart.next(time) for time in (0, 1, 3, 33)] == [1, 2, 4, 33]
    assert [chart.previous(time) for time in (33, 2.5, 0)] == [31, 2, 0]


def test_compared_schedules_share_their_ranks(make_sight: MakeSight) -> None:
    """With v chunks a rank the bubble is v times smaller (arXiv:2104.04473, section 2.2)."""
    sight = make_sight(beside=("interleaved-1f1b", "v-half", "dualpipe"))
    assert [run.name for run in sight.picture.runs] == ["1f1b", "interleaved-1f1b", "v-half", "dualpipe"]
    idle = [run.bubble.over_ideal for run in sight.picture.runs]
    assert idle[1] == pytest.approx(idle[0] / 2)


def test_a_schedule_that_refuses_says_why(make_sight: MakeSight) -> None:
    sight = make_sight(ranks=2, microbatches=3, beside=("dualpipe",))
    assert [run.name for run in sight.picture.runs] == ["1f1b"]
    assert sight.picture.refusals[0].startswith("dualpipe: ")


def test_seconds_come_from_the_scenario(make_sight: MakeSight) -> None:
    sight = make_sight(unit=Unit.SECONDS)
    assert sight.own.chart.timeline.times.estimated
    assert 0 < sight.picture.unit < sight.own.makespan < 60


def test_looks() -> None:
    look = Look()
    assert ranked(look, 9, 4).rank == 3
    assert (zoomed(look, -1, 5).zoom, zoomed(look, 9, 5).zoom) == (0, 5)
    assert zoomed(panned(look, 2), 1, 5).pan == 0
    assert laid_beside(look, "1f1b", "1f1b") is look
    both = laid_beside(laid_beside(look, "gpipe", "1f1b"), "zb-v", "1f1b")
    assert both.beside == ("gpipe", "zb-v")
    assert laid_beside(both, "gpipe", "1f1b").beside == ("zb-v",)
    assert laid_beside(both, "zb-h1", "1f1b").beside == ("zb-v", "zb-h1")
