"""Named suspects and the forecast: each rule on the numbers that it is about, and on those that it is not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from live_ranks import CPU_RANK, GIB, GPU_RANK, S

from scaletui_engine.live.forecast import Confidence, trend_of
from scaletui_engine.live.held import Held
from scaletui_engine.live.history import Point
from scaletui_engine.live.judgement import headroom
from scaletui_engine.live.plan_document import JobPlan, PlannedParameter
from scaletui_engine.live.suspects import Suspect, suspicions

FSDP = JobPlan(
    1, "fsdp2", (), (2,), (0,), (), (),
    (PlannedParameter("lm_head.weight", (128_256, 4096), "bfloat16", True, 0, 0, 0, (), (), (), "cuda"),), 1,
)  # fmt: skip
CALM = replace(GPU_RANK, plan=FSDP, history=())
MEASURED, ALLOCATOR = CALM.measured, CALM.allocator


def names(rank):
    return [suspicion.suspect for suspicion in suspicions(rank)]


def test_a_job_that_does_what_was_predicted_has_no_suspects():
    assert names(CALM) == names(CPU_RANK) == []


@pytest.mark.parametrize(
    ("rank", "suspect", "amount"),
    [
        pytest.param(
            replace(CALM, measured=replace(MEASURED, unsharded=20 * GIB)),
            Suspect.UNSHARDED_KEPT, 20 * GIB, id="whole model gathered at the end of a step",
        ),
        pytest.param(
            replace(CALM, measured=replace(MEASURED, gradients=20 * GIB)),
            Suspect.GRADIENTS_UNSHARDED, 10 * GIB, id="no_sync on two ranks: gradients of double size",
        ),
        pytest.param(
            replace(CALM, measured=replace(MEASURED, optimizer=0)),
            Suspect.OPTIMIZER_MISSING, 20 * GIB, id="before the first optimizer step",
        ),
        pytest.param(
            replace(CALM, allocator=replace(ALLOCATOR, inactive_split=9 * GIB)),
            Suspect.FRAGMENTATION, 9 * GIB, id="9 of 50 GiB in pieces",
        ),
        pytest.param(
            replace(CALM, allocator=replace(ALLOCATOR, retries=3)), Suspect.RETRIES, 3, id="three retries"
        ),
        pytest.param(
            replace(
                CALM,
                identity=replace(CALM.identity, micro_batch=1, sequence_length=2048),
                allocator=replace(ALLOCATOR, peak=44 * GIB),
            ),
            Suspect.LOGITS, 4 * GIB, id="2,048 tokens x 128,256 x 4 B = 1.0 GiB, and the peak is 4 GiB up",
        ),
        pytest.param(
            replace(
                CALM, driver_total=100 * GIB, driver_free=4 * GIB,
                allocator=replace(ALLOCATOR, allocated=60 * GIB, reserved=82 * GIB, active=60 * GIB),
            ),
            Suspect.OUTSIDE, 14 * GIB, id="pytorch-147179: 60 active, 82 reserved, 96 of the device",
        ),
    ],
)  # fmt: skip
def test_each_rule_names_its_shape(rank, suspect, amount):
    found = {suspicion.suspect: suspicion.amount for suspicion in suspicions(rank)}
    assert found.get(suspect) == amount


@pytest.mark.parametrize(
    "rank",
    [
        pytest.param(
            replace(
                CALM, measured=replace(MEASURED, gradients=20 * GIB), plan=replace(FSDP, wrapper="plain")
            ),
            id="whole gradients are what DDP has",
        ),
        pytest.param(replace(CALM, measured=replace(MEASURED, unsharded=1 << 20)), id="a megabyte"),
        pytest.param(replace(CALM, allocator=replace(ALLOCATOR, peak=44 * GIB)), id="tokens unknown"),
        pytest.param(replace(CALM, measured=Held(), prediction=CPU_RANK.prediction, plan=None), id="no plan"),
    ],
)
def test_what_looks_alike_is_not_named(rank):
    assert set(names(rank)) <= {Suspect.OPTIMIZER_MISSING}


def growing(slope, noise=0.0, steps=200, start=40 * GIB):
    dice = random.Random(11)
    return tuple(
        Point(step, step * S, S // 2, int(start + slope * step + dice.gauss(0, noise)), None)
        for step in range(1, steps + 1)
    )


def test_headroom_is_what_was_free_at_the_peak():
    """28 GiB of the driver and 50 reserved, less the 45 that were allocated at the peak."""
    assert headroom(GPU_RANK) == 33 * GIB
    assert headroom(CPU_RANK) is None


@pytest.mark.parametrize(
    ("history", "confidence"),
    [
        pytest.param(growing(1 << 20), Confidence.HIGH, id="1 MiB a step, exactly"),
        pytest.param(growing(1 << 20, noise=20 << 20), Confidence.HIGH, id="with 20 MiB of noise"),
        pytest.param(growing(1 << 20, noise=60 << 20), Confidence.FAIR, id="with 60 MiB of noise"),
        pytest.param(growing(1 << 20, noise=120 << 20), Confidence.LOW, id="with 120 MiB of noise"),
    ],
)
def test_a_leak_is_found_and_its_end_foretold(history, confidence):
    """Noise s over 197 steps leaves the slope an error of s / 800 a step."""
    trend = trend_of(replace(GPU_RANK, history=history))
    assert trend.confidence is confidence
    assert trend.bytes_per_step == pytest.approx(1 << 20, rel=0.35)
    assert trend.steps_left == pytest.approx(33 * 1024, rel=0.35)
    assert trend.seconds_left == pytest.approx(trend.steps_left / 2, rel=1e-9)
    assert Suspect.LEAK in names(replace(GPU_RANK, history=history))


@pytest.mark.parametrize(
    "history",
    [
        pytest.param((), id="nothing"),
        pytest.param(growing(1 << 20, steps=15), id="too few steps"),
        pytest.param(growing(0), id="flat"),
        pytest.param(growing(0, noise=50 << 20), id="noise alone"),
        pytest.param(growing(-(1 << 20)), id="falling"),
        pytest.param(growing(1), id="a byte a step: nothing beside 40 GiB"),
        pytest.param(growing(0)[:1] + growing(0, start=90 * GIB)[1:], id="the first step is a warm-up"),
    ],
)
def test_what_is_no_leak(history):
    assert trend_of(replace(GPU_RANK, history=history)) is None


def test_states_that_nobody_counted_are_not_called_missing():
    assert suspicions(replace(CALM, measured=replace(MEASURED, optimizer=None))) == ()
