"""What the live screen says, row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.live import LiveState
from scaletui.text.glyphs import ASCII
from scaletui.view.box import Box
from scaletui.view.live_answer import answer_rows, header_facts, short_command
from scaletui.view.live_compare import compare_height, compare_rows
from scaletui.view.live_details import details_rows
from scaletui.view.live_empty import empty_rows
from scaletui.view.live_explain import explain_rows
from scaletui.view.live_ranks import age_text, ranks_rows
from scaletui.view.live_report import report_rows
from scaletui.view.live_room import room_for
from scaletui.view.live_suspects import forecast_text
from scaletui.view.live_trend import trend_rows
from scaletui.view.live_words import fault_text, reason_text, unpredicted_text, verdict_text
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.live.discovery import Place
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.forecast import Confidence, Trend
from scaletui_engine.live.held import Held
from scaletui_engine.live.predicted import Prediction, Unpredicted
from scaletui_engine.live.snapshot import Happening, Moment, Snapshot
from scaletui_probe.layout import Event, Reason

if TYPE_CHECKING:
    from scaletui.view.row import Row

PEN = Pen(ASCII)
GIB = 1 << 30


def text(rows: tuple[Row, ...]) -> list[str]:
    return ["".join(span.text for span in row).rstrip() for row in rows]


def test_answer_of_a_cpu_job(make_rank, make_state):
    (row,) = text(answer_rows(make_state(make_rank(0), make_rank(1)), 120, PEN))
    assert row == " y running  step 4,812  0.412 s   most: rank 0, 3.9 KiB   y as predicted, to the byte"


def test_a_rank_that_holds_a_little_more_is_the_one_that_holds_most(make_rank, make_state):
    more = make_rank(1, now=Held(1000, 1000, 2004, 0, 16, 300))
    (row,) = text(answer_rows(make_state(make_rank(0), more), 120, PEN))
    assert "most: rank 1, 4.2 KiB" in row


def test_answer_of_a_gpu_job_names_the_rank_with_least_room_at_its_peak(make_rank, make_state):
    tight = make_rank(5, gpu=True, driver_free=3 * GIB)
    (row,) = text(answer_rows(make_state(make_rank(0, gpu=True), tight), 120, PEN))
    assert "worst: rank 5, 8.0 GiB free" in row


def test_answer_says_what_happened_to_the_worst_rank(make_rank, make_state):
    state = make_state(
        make_rank(0, what=What.ENDED_BY_LAUNCHER), make_rank(1, what=What.KILLED, detail="SIGKILL")
    )
    assert text(answer_rows(state, 80, PEN))[0].startswith(" ! exited, rank 1: killed (SIGKILL)")


def test_answer_names_the_largest_gap(make_rank, make_state):
    off = make_rank(1, prediction=Prediction(Held(1000, 1000, 2000)))
    assert "largest gap: optimizer +4 B" in text(answer_rows(make_state(make_rank(0), off), 120, PEN))[0]


def test_words_go_before_the_gap_does(make_rank, make_state):
    off = make_rank(1, prediction=Prediction(Held(1000, 1000, 2000)))
    assert text(answer_rows(make_state(make_rank(0)), 80, PEN))[0].endswith("   y as predicted")
    assert text(answer_rows(make_state(make_rank(0), off), 80, PEN))[0].endswith("   gap: optimizer +4 B")


@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 120, 200])
def test_answer_fits_and_keeps_the_state(make_rank, make_state, job_of, width):
    jobs = (job_of(make_rank(0, gpu=True)), job_of(make_rank(0), name="b"))
    (row,) = answer_rows(make_state(jobs=jobs, paused=True), width, PEN)
    assert row_width(row) == width
    assert "running" in text((row,))[0]


def test_header_facts(make_rank, make_state):
    slurm = {"slurm_id": "77.0", "slurm_nodes": "n[1-2]"}
    state = make_state(make_rank(0, identity=slurm), make_rank(1))
    assert header_facts(state) == ("python3 train.py --lr 1", "2 ranks", "77.0 n[1-2]", "node-a", "4f2a")


def test_big_has_the_step_in_large_figures_and_bars_three_rows_tall(make_rank, make_state):
    state, pen = make_state(make_rank(0, gpu=True), make_rank(1, gpu=True)), Pen(ASCII, big=True)
    rows = answer_rows(state, 80, pen)
    assert len(rows) == 3
    assert {row_width(row) for row in rows} == {80}
    assert "running" in text(rows)[0]
    bars = ranks_rows(state, Box(80, 7), pen)
    assert len(bars) == 7
    assert {row_width(row) for row in bars} == {80}
    first, second, _ = text(bars)[1:4]
    assert first[6 : 6 + len(second.strip())] == second.strip()
    assert len(answer_rows(LiveState(), 80, pen)) == 3


@pytest.mark.parametrize(
    ("command", "short"),
    [
        ("/usr/bin/python3 /a/b/train.py --data /x/y", "python3 train.py --data /x/y"),
        ("python -m pkg.train", "python -m pkg.train"),
        ("", ""),
    ],
)
def test_short_command(command, short):
    assert short_command(command) == short


def test_a_cpu_job_has_bars_of_counted_parts_and_no_capacity(make_rank, make_state):
    rows = text(ranks_rows(make_state(make_rank(0), make_rank(1)), Box(80, 10), PEN))
    assert rows[0].endswith("- steps -- time - age --------")
    assert rows[1].startswith(">*  0 WWW")
    assert rows[1].endswith("3.9 KiB 4,812 0.412 s 0.4 s running")
    assert "|" not in rows[1]


def test_a_gpu_job_has_three_figures_a_capacity_and_what_lies_outside(make_rank, make_state):
    rows = text(ranks_rows(make_state(make_rank(0, gpu=True)), Box(120, 10), PEN))
    assert "40.0/50.0/80.0 4,812 0.412 s 0.4 s running" in rows[1]
    assert [letter for letter in "WOUA=X.|" if letter in rows[1]] == list("WOUA=X.|")


def test_the_worst_rank_comes_first_and_is_marked(make_rank, make_state):
    ranks = [make_rank(number, gpu=True, driver_free=(20 - number) * GIB) for number in range(4)]
    rows = text(ranks_rows(make_state(*ranks), Box(100, 10), PEN))
    assert [row[:5] for row in rows[1:]] == [">*  3", "    2", "    1", "    0"]


def test_a_story_takes_the_place_of_figures(make_rank, make_state):
    state = make_state(make_rank(0), make_rank(1, what=What.ORPHANED))
    rows = text(ranks_rows(state, Box(80, 10), PEN))
    assert rows[1].endswith("orphaned: its launcher is gone  0.4 s")
    assert rows[2].endswith("0.412 s 0.4 s running")


@pytest.mark.parametrize("count", [1, 8, 64, 1024])
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_ranks_beyond_the_room_are_counted_and_every_row_fits(make_rank, make_state, count, width):
    state = make_state(*(make_rank(number, gpu=number % 2 == 0) for number in range(count)))
    rows = ranks_rows(state, Box(width, 9), PEN)
    assert {row_width(row) for row in rows} == {width}
    assert len(rows) == min(count, 8) + 1
    assert ("more" in text(rows)[0]) == (count > 8)


@pytest.mark.parametrize(
    ("age_s", "said"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (10, "10 s"), (90, "1 m"), (7200, "2 h"), (9e4, "1 d")],
)
def test_ages(age_s, said):
    assert age_text(age_s, PEN) == said


def test_compare_of_a_cpu_job(make_rank, make_state):
    state = make_state(make_rank(0))
    rows = text(compare_rows(state, Box(80, 20), PEN))
    assert rows == [
        "- rank 0 ------- predicted - measured - difference -----------------------------",
        " WWW weights         1,000      1,000        y 0 B",
        " GGG gradients       1,000      1,000        y 0 B",
        " OOO optimizer       2,004      2,004        y 0 B",
        " BBB buffers             -         16",
        " allocator, activations: not available: CPU job",
    ]
    assert compare_height(state, 80, PEN) == len(rows)


def test_buffers_that_cannot_be_known_are_not_0(make_rank, make_state):
    held = Held(1000, 1000, 2004, unsharded=0)
    rank = make_rank(0, measured=held, buffers_reason=Reason.NOT_SUPPORTED)
    rows = text(compare_rows(make_state(rank), Box(80, 20), PEN))
    assert rows[-2:] == [
        " buffers: not available: not supported here",
        " allocator, activations: not available: CPU job",
    ]
    assert not any("BBB" in row for row in rows)


@pytest.mark.parametrize(
    ("predicted", "said", "role"),
    [
        (1000, "y 0 B", "ok"),
        (980, "+20 B +2.0 %", "text"),
        (500, "+500 B +100.0 %", "warn"),
        (0, "+1,000 B", "warn"),
        (1010, "-10 B -1.0 %", "text"),
    ],
)
def test_differences_are_signed_and_large_ones_are_warnings(make_rank, make_state, predicted, said, role):
    state = make_state(make_rank(0, prediction=Prediction(Held(predicted, 1000, 2004))))
    row = compare_rows(state, Box(100, 20), PEN)[1]
    assert text((row,))[0].endswith(said)
    assert role in {span.role for span in row if said in span.text}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_large_figures_leave_the_difference_in_view(make_rank, make_state, width):
    rows = compare_rows(make_state(make_rank(0, gpu=True)), Box(width, 20), PEN)
    assert {row_width(row) for row in rows} == {width}
    assert "difference" in text(rows)[0]
    assert text(rows)[1].endswith(
        "10,737,418,240       y 0 B" if width < 80 else "10,737,418,240        y 0 B"
    )


def test_compare_says_why_there_is_no_prediction_and_no_count(make_rank, make_state):
    fresh = make_rank(
        0, measured=Held(), now=Held(), states_reason=Reason.NO_STEP_YET, measured_at_step=None,
        prediction=Prediction(Held(), Unpredicted.NO_PLAN),
    )  # fmt: skip
    rows = text(compare_rows(make_state(fresh), Box(80, 20), PEN))
    assert rows[1:] == [
        " measured: not available: no optimizer step yet",
        " no prediction: the job has not made its first optimizer step",
    ]


@pytest.mark.parametrize(
    ("suspect", "change", "said"),
    [
        ("retries", {"retries": 3}, "the allocator had to try again: 3 times"),
        (
            "fragmentation",
            {"inactive_split": 9 * GIB},
            "fragmentation: 9.0 GiB in pieces that cannot be handed out",
        ),
    ],
)
def test_suspects_are_named_below_the_comparison(make_rank, make_state, suspect, change, said):
    rank = make_rank(0, gpu=True)
    state = make_state(replace(rank, allocator=replace(rank.allocator, **change)))
    rows = text(compare_rows(state, Box(80, 20), PEN))
    assert rows[-1] == f" ! {said}"
    assert compare_height(state, 80, PEN) == len(rows)


@pytest.mark.parametrize(
    ("steps", "seconds", "said"),
    [
        (912, 372.4, "grows 1.0 MiB a step: out of memory in about 910 steps, 6 m 10 s (sure)"),
        (912, None, "grows 1.0 MiB a step: out of memory in about 910 steps (sure)"),
        (None, None, "grows 1.0 MiB a step (sure)"),
        (7, 3.0, "grows 1.0 MiB a step: out of memory in about 7 steps, 3.00 s (sure)"),
    ],
)
def test_forecast_is_a_sentence(steps, seconds, said):
    assert forecast_text(Trend(1 << 20, Confidence.HIGH, steps, seconds), PEN) == said


def test_an_out_of_memory_is_told_with_what_was_held(make_rank, make_state):
    oom = Happening(Event.OOM, 0, 41, (2 * GIB, 0), "", 70 * GIB, Held(weights=10 * GIB, unsharded=30 * GIB))
    rank = make_rank(0, gpu=True, what=What.OUT_OF_MEMORY, happenings=(oom,))
    rows = text(details_rows(make_state(rank), Box(44, 60), PEN))
    assert rows[rows.index(next(row for row in rows if "2.0 GiB asked for" in row)) + 2].endswith("30.0 GiB")


@pytest.mark.parametrize("height", [15, 21, 37, 47])
@pytest.mark.parametrize("count", [1, 8, 64])
def test_every_pane_has_its_room(make_rank, make_state, height, count):
    state = make_state(*(make_rank(number) for number in range(count)))
    room = room_for(state, Box(80, height), PEN)
    assert room.answer + room.ranks + room.compare + 2 <= height
    assert room.ranks >= min(count, 2) + 1
    assert room.compare == compare_height(state, 80, PEN)


@pytest.mark.parametrize(("height", "titles"), [(2, 1), (7, 1), (8, 2), (40, 2)])
def test_trend_has_one_curve_or_two(make_rank, make_state, height, titles):
    rows = text(trend_rows(make_state(make_rank(0, gpu=True)), Box(80, height), PEN))
    assert rows[0].startswith("- allocated at the end of a step, 200 steps")
    assert sum(row.startswith("- ") for row in rows) == titles
    assert len(rows) <= height


def test_trend_of_a_cpu_job_is_of_the_process_and_says_so(make_rank, make_state):
    points = tuple(replace(point, allocated=None, host_rss=99) for point in make_rank(0, gpu=True).history)
    rows = text(trend_rows(make_state(make_rank(0, history=points)), Box(80, 4), PEN))
    assert rows[0].startswith("- resident memory of the process")
    assert text(trend_rows(make_state(make_rank(0)), Box(80, 4), PEN))[1] == " no step yet"


def test_details_list_the_allocator_or_the_reason_and_every_job(make_rank, make_state, job_of):
    jobs = (job_of(make_rank(0, gpu=True)), job_of(make_rank(0), name="b"))
    rows = text(details_rows(make_state(jobs=jobs), Box(42, 40), PEN))
    assert next(row for row in rows if row.startswith(" peak allocated")).endswith("45.0 GiB")
    assert sum("train.py" in row for row in rows) == 2
    cpu = text(details_rows(make_state(make_rank(0)), Box(42, 40), PEN))
    assert " not available: CPU job" in cpu


def test_without_a_job_every_place_is_named_and_the_way_to_start():
    places = (
        Place("/tmp/a"),
        Place("/tmp/b", Fault.MISSING),
        Place("/tmp/c", Fault.FOREIGN, "/tmp/c has mode 0777"),
    )
    snapshot = Snapshot(Moment(0, 0), (), places, (RingFault("/tmp/a/x", Fault.WRONG_VERSION, "version 7"),))
    rows = "\n".join(text(empty_rows(snapshot, Box(80, 40), PEN)))
    for said in (
        "/tmp/a: 0 rings",
        "/tmp/b is not there",
        "/tmp/c has mode 0777",
        "version 7",
        "scaletui run --",
    ):
        assert said in rows


def test_explanations_fit(make_rank, make_state):
    rows = explain_rows(make_state(make_rank(0)), Box(46, 60), PEN)
    assert {row_width(row) for row in rows} == {46}
    assert "activations and temporaries" in "\n".join(text(rows))


def test_report_has_every_job(make_rank, make_state, job_of):
    jobs = (job_of(make_rank(0, gpu=True)), job_of(make_rank(0, what=What.FINISHED), name="b"))
    shown = make_state(jobs=jobs).shown
    rows = text(tuple(report_rows(shown, 80, PEN)))
    assert sum("4f2a" in row or row.endswith("  b") for row in rows) == 2
    assert " y exited" in [row[:9] for row in rows]


@pytest.mark.parametrize("what", list(What), ids=str)
def test_every_verdict_has_words(what):
    said = verdict_text(Verdict(RankState.EXITED, what, "42"))
    assert said
    assert ("42" in said) or what is What.NOTHING


@pytest.mark.parametrize("fault", list(Fault), ids=str)
def test_every_fault_has_words(fault):
    assert fault_text(fault)


@pytest.mark.parametrize("reason", list(Reason), ids=lambda reason: reason.name)
def test_every_reason_has_words(reason):
    assert reason_text(reason)


@pytest.mark.parametrize("reason", list(Unpredicted), ids=str)
def test_every_missing_prediction_has_words(reason):
    assert bool(unpredicted_text(reason, "x")) == (reason is not Unpredicted.NOTHING)
