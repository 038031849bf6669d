"""Questions of a simulated schedule: cells, densities, memory, the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.commands.schedule import TRANSPORTS
from scaletui.state.schedule import Messages, Unit, Update
from scaletui.state.schedule_look import (
    Look,
    laid_beside,
    panned,
    ranked,
    sent_otherwise,
    updated_otherwise,
    zoomed,
)
from scaletui.state.schedule_stretch import Stretch
from scaletui_engine.schedule.modes.transport import Transport

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


def test_the_screen_knows_every_transport_of_the_engine() -> None:
    assert [each.value for each in Messages] == [each.value for each in Transport]
    assert [each.value for each in Messages] == list(TRANSPORTS)


def test_messages_and_the_optimizer_step_go_round() -> None:
    sent, updated = [Look()], [Look()]
    for _ in range(4):
        sent.append(sent_otherwise(sent[-1]))
        updated.append(updated_otherwise(updated[-1]))
    assert [look.messages for look in sent] == [*Messages, Messages.ASYNC]
    assert [look.update for look in updated][:4] == [*Update, Update.NONE]


@pytest.mark.parametrize("messages", [Messages.BLOCKING, Messages.IN_ORDER, Messages.LATE_LAUNCH])
def test_other_transports_take_as_long_or_longer(messages: Messages, make_sight: MakeSight) -> None:
    """Seconds count messages; the engine's own tests hold how long each takes."""
    free = make_sight(unit=Unit.SECONDS).own
    assert make_sight(unit=Unit.SECONDS, messages=messages).own.makespan >= free.makespan


@pytest.mark.parametrize(
    ("update", "starts", "end", "period"),
    [(Update.TOGETHER, [33, 33, 33, 33], 34, 34), (Update.ALONE, [33, 31, 29, 27], 34, 34)],
)
def test_the_optimizer_step_follows_the_pipeline(
    update: Update, starts: list[float], end: float, period: float, make_sight: MakeSight
) -> None:
    """p 4, m 8: 1F1B's ranks end at 33, 31, 29 and 27, and rank 0 has the longest span."""
    sight = make_sight(update=update)
    step = sight.own.chart.step
    assert step is not None
    assert (step.start.tolist(), step.period) == (starts, period)
    assert (sight.own.makespan, sight.track.end) == (33, end)
    (row,) = sight.own.chart.pieces(Stretch(0, 34, 34), range(3, 4))
    assert row[-1].role == ("optimizer" if update is Update.TOGETHER else "idle")
    assert [piece.columns for piece in row if piece.role == "optimizer"] == [1]
    assert sight.own.chart.near(3, starts[3]).reason == "update"
    assert sight.own.chart.next(32.9) == 33


def test_the_optimizer_step_over_density(make_sight: MakeSight) -> None:
    sight = make_sight(ranks=32, microbatches=64, update=Update.TOGETHER)
    groups = (range(4), range(4, 32))
    for row in sight.own.chart.shades(Stretch(0, sight.own.end, int(sight.own.end)), groups):
        assert row[-1].role == "optimizer"
        assert sum(shade.columns for shade in row) == int(sight.own.end)


def test_an_update_takes_seconds_from_the_bytes_that_it_moves(make_sight: MakeSight) -> None:
    """H100: 3.35 TB/s (its data sheet); fp32 weights and both moments twice, gradients once: 28 bytes."""
    sight = make_sight(unit=Unit.SECONDS, update=Update.TOGETHER)
    step = sight.own.chart.step
    assert step is not None
    parameters = max(sight.own.weights) / 4
    took = float(step.end[0] - step.start[0])
    assert took == pytest.approx(parameters * 28 / 3.35e12, rel=1e-3)


@pytest.mark.parametrize(("name", "factors"), [("1f1b", (1, 1, 1, 1)), ("pipedream", (4, 3, 2, 1))])
def test_versions_of_weights_in_bytes(name: str, factors: tuple[int, ...], make_sight: MakeSight) -> None:
    one = make_sight("1f1b").own.weights
    assert make_sight(name).own.weights == tuple(
        factor * held for factor, held in zip(factors, one, strict=True)
    )


def test_dualpipe_holds_the_weights_of_both_directions(make_sight: MakeSight) -> None:
    one = make_sight("1f1b").own.weights
    both = make_sight("dualpipe").own.weights
    assert both == tuple(here + there for here, there in zip(one, reversed(one), strict=True))
