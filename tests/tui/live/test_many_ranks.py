"""Ranks sorted, filtered, mapped and looked at closely; alerts; what would make the job fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from live_ranks import GIB, S

from scaletui.state import live as state_of
from scaletui.state.live import Page, acknowledge, arrived, back, filtered, other_measure, other_order, turned
from scaletui.state.live_heat import HeatLayout, Measure, layout_for, moved, place_at
from scaletui.state.live_scenario import batch_of, batch_told, foretold_of, rise_of, scenario_of
from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.view.box import Box
from scaletui.view.live_alerts import alert_rows
from scaletui.view.live_compare import compare_height, compare_rows
from scaletui.view.live_fit import fit_rows
from scaletui.view.live_forecast import forecast_rows, growth_text
from scaletui.view.live_heat import DEAD, heat_rows, heats_of
from scaletui.view.live_rank import rank_rows
from scaletui.view.live_ranks import ranks_rows
from scaletui.view.live_skew import skew_rows, straggler_text
from scaletui.view.live_wave import wave_rows
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.live.evidence import What
from scaletui_engine.live.history import Point
from scaletui_engine.live.order import Order
from scaletui_engine.live.outcome import Batch, Rebuilt, Unbuilt
from scaletui_engine.live.plan_document import (
    JobPlan,
    OptimizerGroup,
    PlannedGroup,
    PlannedOptimizer,
    PlannedParameter,
)
from scaletui_engine.live.skew import Lag, Straggler
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.wave import WaveSample
from scaletui_engine.model import Arch
from scaletui_engine.tensors import tensors

PEN = Pen(ASCII)
ARCH = Arch(4, 1024, 8, 2, 128, 2816, 32_000)


def text(rows) -> list[str]:
    return ["".join(span.text for span in row).rstrip() for row in rows]


def plan(ranks: int = 4, units: int = 5) -> JobPlan:
    """Of a small Llama, FSDP2 over the ranks."""
    rows = tuple(
        PlannedParameter(
            tensor.name.format(layer=layer),
            tensor.shape,
            "float32",
            True,
            0,
            0,
            0,
            ("S(0)",),
            (ranks,),
            (0,),
            "cuda",
        )
        for tensor in tensors(ARCH)
        for layer in (tensor.layers if tensor.layers is not None else (None,))
    )
    groups = tuple(
        PlannedGroup(f"layers.{unit}" if unit + 1 < units else "", ranks, "bfloat16", "float32", True)
        for unit in range(units)
    )
    adam = PlannedOptimizer("torch.optim.adamw.AdamW", (OptimizerGroup({}),))
    return JobPlan(1, "fsdp2", ("dp",), (ranks,), (0,), (adam,), groups, rows, len(rows))


WAVE = tuple(WaveSample(at * S, at, at % 10 / 10, bytes([1 << at % 5])) for at in range(40))


@pytest.fixture
def job(make_rank, make_state):
    """Four ranks of a job with a plan; the fields are those of the state."""

    def make(count: int = 4, **fields):
        size = {"world_size": count, "local_world_size": count}
        return make_state(
            *(make_rank(n, gpu=True, plan=plan(count), wave=WAVE, identity=size) for n in range(count)),
            **fields,
        )

    return make


def test_orders_go_round_and_are_named(job):
    state, named = job(), []
    for _ in Order:
        named.append(text(ranks_rows(state, Box(80, 6), PEN))[0].split(" -")[0])
        state = other_order(state)
    assert state.order is Order.HEADROOM
    assert named == [
        "- ranks by headroom", "- ranks by number", "- ranks by step time", "- ranks by reserved memory",
        "- ranks by age",
    ]  # fmt: skip


def test_a_filter_is_shown_with_its_count_and_taken_off(job):
    state = filtered(job(), " rank 2 ")
    rows = text(ranks_rows(state, Box(100, 6), PEN))
    assert rows[0].startswith("- ranks by headroom, 1 of 4: rank 2 -")
    assert [row[:5] for row in rows[1:]] == [">   2"]
    assert back(state).filter == ""


def test_a_filter_that_nothing_passes_says_so_and_the_worst_rank_stays(job):
    state = filtered(job(), "nowhere")
    assert "no rank is like that" in text(ranks_rows(state, Box(80, 6), PEN))[1]
    assert state_of.rank(state) is state_of.worst_rank(state)


def test_pages_turn_and_lead_back(job):
    state = job()
    heat = turned(state, Page.HEAT)
    assert turned(heat, Page.RANK).page is Page.RANK
    assert back(turned(heat, Page.RANK)).page is Page.HEAT
    assert back(heat).page is Page.LIST
    assert turned(turned(state, Page.FIT), Page.FIT).page is Page.LIST
    assert {other_measure(state).measure, state.measure} == {Measure.USED, Measure.HELD}


@pytest.mark.parametrize(
    ("count", "box", "size"),
    [(8, (70, 14), 1), (72, (70, 14), 1), (1024, (72, 15), 1), (1024, (72, 12), 2), (16384, (72, 15), 16),
     (16384, (190, 40), 4), (1, (3, 1), 1)],
)  # fmt: skip
def test_a_map_has_room_for_every_rank(count, box, size):
    layout = layout_for(count, Box(*box))
    assert layout.size == size
    assert layout.rows <= box[1]
    assert layout.columns * layout.width <= box[0]
    assert layout.cells * layout.size >= count


@pytest.mark.parametrize(
    ("place", "by", "wanted"),
    [(0, (1, 0), 2), (0, (0, 1), 8), (0, (-1, 0), 0), (9, (0, -1), 0), (9, (0, 1), 9), (7, (1, 0), 8)],
)
def test_walking_over_a_map(place, by, wanted):
    assert moved(place, by, HeatLayout(10, 2, 4, 1)) == wanted


@pytest.mark.parametrize(
    ("x", "y", "wanted"), [(0, 0, 0), (3, 0, 6), (4, 0, None), (0, 1, 8), (1, 1, None), (-1, 0, None)]
)
def test_a_click_on_a_map(x, y, wanted):
    assert place_at(x, y, HeatLayout(10, 2, 4, 1)) == wanted


@pytest.mark.parametrize("count", [1, 8, 72, 1024, 16_384])
@pytest.mark.parametrize("box", [Box(80, 18), Box(112, 44)], ids=str)
def test_a_map_of_any_job_fits_and_lights_one_cell(make_rank, make_state, count, box):
    base = make_rank(0, gpu=True)
    ranks = (replace(base, identity=replace(base.identity, rank=number)) for number in range(count))
    state = make_state(*ranks, rank=count // 2)
    rows = heat_rows(state, box, PEN)
    assert len(rows) <= box.height
    assert {row_width(row) for row in rows} == {box.width}
    said = "\n".join(text(rows))
    assert f"rank {count // 2} " in said
    lit = [span for row in rows for span in row if span.role == "cursor" or span.text.startswith(">")]
    assert len(lit) <= 2
    assert lit


@pytest.mark.parametrize(
    ("measure", "odd", "level", "role"),
    [
        (Measure.USED, {"driver_free": 0, "peak": 49}, 8, "error"),
        (Measure.USED, {"driver_free": 3}, 7, "warn"),
        (Measure.USED, {}, 5, "ok"),
        (Measure.HELD, {"allocated": 50}, 8, "error"),
        (Measure.HELD, {"allocated": 44}, 6, "warn"),
        (Measure.STEP_TIME, {"step_ns": 480_000_000}, 7, "warn"),
        (Measure.AGE, {"last_ns": 0}, 5, "warn"),
        (Measure.STATE, {"what": What.SILENT}, 5, "warn"),
        (Measure.STATE, {"what": What.KILLED}, DEAD, "error"),
        (Measure.USED, {"what": What.KILLED}, DEAD, "error"),
        (Measure.STATE, {"what": What.FINISHED}, 0, "dim"),
    ],
)
def test_levels_and_roles(make_rank, make_state, measure, odd, level, role):
    odd = dict(odd)
    rank = make_rank(3, gpu=True)
    for name in ("peak", "allocated"):
        if name in odd:
            rank = replace(rank, allocator=replace(rank.allocator, **{name: odd.pop(name) * GIB}))
    if "driver_free" in odd:
        odd["driver_free"] *= GIB
    if "what" in odd:
        rank = replace(rank, verdict=make_rank(3, what=odd.pop("what")).verdict)
    state = make_state(*(make_rank(number, gpu=True) for number in range(3)), replace(rank, **odd))
    heat = heats_of(state_of.job(state), measure, Moment(10 * S, 0))[3]
    assert (heat.level, heat.role) == (level, role)


def test_skew_names_least_median_most_and_whose(make_rank, make_state):
    fuller = make_rank(3, gpu=True)
    fuller = replace(fuller, allocator=replace(fuller.allocator, allocated=44 * GIB), step_ns=500_000_000)
    state = make_state(*(make_rank(number, gpu=True) for number in range(3)), fuller)
    assert text(skew_rows(state, 80, PEN)) == [
        " memory 40.0 GiB to 44.0 GiB, median 40.0 GiB  rank 3 +4.0 GiB",
        " step time 0.412 s to 0.500 s, median 0.412 s  rank 3 +88.0 ms",
    ]
    assert text(skew_rows(state, 61, PEN))[1] == " step time 0.412 s to 0.500 s  rank 3 +88.0 ms"
    assert len(skew_rows(state, 130, PEN)) == 1


def test_skew_names_nobody_where_no_rank_differs(make_rank, make_state):
    state = make_state(*(make_rank(number, gpu=True) for number in range(4)))
    assert text(skew_rows(state, 60, PEN)) == [
        " memory 40.0 GiB on every running rank",
        " step time 0.412 s on every running rank",
    ]


@pytest.mark.parametrize(
    ("straggler", "said"),
    [
        (Straggler(3, Lag.BEHIND, 1), "rank 3 is 1 step behind the others"),
        (Straggler(3, Lag.BEHIND, 7), "rank 3 is 7 steps behind the others"),
        (Straggler(3, Lag.SLOW, 200_000_000), "rank 3 is slow: its steps take 0.200 s more"),
        (Straggler(3, Lag.LATE, 30_000_000, 7, 8), "rank 3 is late: last in 7 of 8 steps, by 30.0 ms"),
    ],
)
def test_stragglers_are_told_with_the_evidence(straggler, said):
    assert straggler_text(straggler, PEN) == said


@pytest.mark.parametrize("box", [Box(80, 9), Box(60, 8), Box(112, 40)], ids=str)
def test_units_light_up_where_samples_saw_them(make_rank, box):
    rank = make_rank(0, gpu=True, plan=plan(), wave=WAVE)
    rows = wave_rows(rank, box, PEN)
    assert {row_width(row) for row in rows} == {box.width}
    said = text(rows)
    assert said[0].startswith("- 1 of 5 units unsharded -")
    assert sum(row.startswith(" * ") for row in said) == 1
    assert said[-1].startswith(" samples")
    assert "root" in "\n".join(said)


def test_without_units_it_says_why(make_rank):
    nothing = make_rank(0, gpu=True, plan=replace(plan(), groups=()))
    assert "nothing is gathered" in text(wave_rows(nothing, Box(80, 9), PEN))[1]
    assert "no plan yet" in text(wave_rows(make_rank(0), Box(80, 9), PEN))[1]


@pytest.mark.parametrize("box", [Box(80, 19), Box(60, 14), Box(112, 45)], ids=str)
@pytest.mark.parametrize("pen", [PEN, Pen(UNICODE)], ids=["ascii", "unicode"])
def test_one_rank_closely(job, box, pen):
    rows = rank_rows(job(), box, pen)
    assert len(rows) <= box.height
    assert {row_width(row) for row in rows} == {box.width}
    said = "\n".join(text(rows))
    assert "rank 0 of 4" in said
    assert said.count("units unsharded") == 1
    assert "allocated at the end of a step" in said


def test_alerts_have_an_age_and_go_when_acknowledged(make_rank, make_state):
    state = make_state(make_rank(0), make_rank(1, what=What.SILENT))
    state = arrived(state, state.shown)
    later = replace(state.shown, moment=Moment(75 * S, 0))
    rows = alert_rows(arrived(state, later), Box(80, 24), PEN)
    assert text(rows) == [" ! rank 1: alive but silent" + " " * 41 + "1 m  a seen"]
    assert {row_width(row) for row in rows} == {80}
    assert alert_rows(acknowledge(arrived(state, later)), Box(80, 24), PEN) == ()


def test_many_alerts_are_counted(make_rank, make_state):
    whats = (What.KILLED, What.SILENT, What.STOPPED, What.ORPHANED, What.EXCEPTION)
    state = make_state(*(make_rank(number, what=what) for number, what in enumerate(whats)))
    state = arrived(state, state.shown)
    assert text(alert_rows(state, Box(80, 24), PEN))[-1].startswith(" ! 4 more alerts")
    assert len(alert_rows(state, Box(80, 24), PEN)) == 2
    assert len(alert_rows(state, Box(80, 40), PEN)) == 4


def test_many_ranks_of_one_fate_are_one_alert(make_rank, make_state):
    state = make_state(*(make_rank(number, what=What.KILLED) for number in range(9)))
    assert (
        "9 ranks (0, 1, 2, 3, ...): killed"
        in text(alert_rows(arrived(state, state.shown), Box(80, 24), PEN))[0]
    )


@pytest.mark.parametrize("typed", ["2 4096", "2x4k", " 2, 4096 "])
def test_a_person_tells_the_batch(job, typed):
    state = job()
    rank = state_of.rank(state)
    assert foretold_of(state, rank) is None
    told = batch_told(state, typed)
    assert batch_of(told, rank).micro_batch == 2
    assert foretold_of(told, rank).activations > 0


@pytest.mark.parametrize("typed", ["", "2", "0 4096", "x", "2 3 4", "2 -1"])
def test_another_text_is_no_batch(job, typed):
    assert batch_told(job(), typed) is None


def test_activations_are_compared_with_what_the_peak_holds_beyond_the_states(job):
    state = batch_told(job(), "2 4096")
    rank = state_of.rank(state)
    rise = rise_of(state, rank)
    assert rise.predicted == foretold_of(state, rank).total
    assert rise.measured == (45 - 10 - 10 - 20) * GIB
    rows = text(compare_rows(state, Box(100, 20), PEN))
    assert any(row.startswith(" AAA peak, beyond states") and "5,368,709,120" in row for row in rows)
    assert compare_height(state, 100, PEN) == len(rows)


def test_the_scenario_is_the_jobs_and_what_would_make_it_fit_is_listed(job):
    state = batch_told(job(), "2 4096")
    found = scenario_of(state, state_of.rank(state))
    assert isinstance(found, Rebuilt)
    assert found.batch == Batch(2, 4096)
    rows = text(fit_rows(state, Box(100, 30), PEN))
    assert "fsdp 4, bf16-mixed, seq 4,096" in rows[1]
    assert any("recompute full" in row for row in rows)
    assert "b opens this scenario in Budget" in rows[-1]


def test_a_job_that_is_no_scenario_says_why(make_rank, make_state):
    state = make_state(make_rank(0))
    assert isinstance(scenario_of(state, state_of.rank(state)), Unbuilt)
    assert "has not told its plan yet" in "\n".join(text(fit_rows(state, Box(80, 20), PEN)))


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ((), "too few steps yet to tell whether it grows"),
        (tuple(Point(step, step * S, S, 40 * GIB, None) for step in range(1, 60)), "no growth in 56 steps"),
        (
            tuple(Point(step, step * S, S, 40 * GIB + step * (8 << 20), None) for step in range(1, 60)),
            "grows 8.0 MiB a step: out of memory in about 4,200 steps, 1 h 10 m (sure)",
        ),
    ],
)
def test_growth_is_told_or_that_there_is_none(make_rank, history, said):
    assert growth_text(make_rank(0, gpu=True, history=history), PEN) == said


def test_a_peak_met_by_sampling_is_called_so_and_resets_are_told(make_rank):
    rank = make_rank(0, gpu=True, sampled_peak=43 * GIB, resets_peak=True)
    said = "\n".join(text(forecast_rows(rank, 44, PEN)))
    assert "most inside a step, by sampling   43.0 GiB" in said
    assert "the job resets its peaks" in said
    assert tuple(forecast_rows(make_rank(0), 44, PEN)) == ()
