"""One GPU in whose driver calls hang ages alone; the others go on, and no thread is left over."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from fake_nvml.binding import FakeNvml, some_gpus

from scaletui.live.patience import Limited
from scaletui_engine.live.driver.nvml_source import NvmlSource
from scaletui_engine.live.driver.reading import DriverState, Lack, NotAvailable
from scaletui_engine.live.snapshot import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.source import SourceUpdate

S = 1_000_000_000
PATIENCE_S = 60.0
NO_ANSWER = NotAvailable(Lack.NO_ANSWER)


def askers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "NVML GPU"]


def sweep(source: NvmlSource, second: int) -> SourceUpdate:
    update = source.poll(Moment(second * S, 0))
    while update.more:
        update = source.poll(Moment(second * S, 0))
    return update


@pytest.fixture
def nvml() -> Iterator[FakeNvml]:
    """Eight GPUs. At the end nothing hangs any more, and nobody asks."""
    made = FakeNvml(some_gpus(8))
    yield made
    made.goes_on.set()
    for thread in askers():
        thread.join(PATIENCE_S)
    assert askers() == []


@pytest.fixture
def source(nvml: FakeNvml) -> Iterator[NvmlSource]:
    found = NvmlSource(lambda: nvml, patience=Limited(0.2))
    yield found
    found.close()


def test_gpus_that_all_answer_need_one_thread(source: NvmlSource) -> None:
    update = sweep(source, 1)
    assert (len(update.drivers), update.fault, len(askers())) == (8, None, 1)


def test_a_gpu_that_begins_to_hang_ages_alone(nvml: FakeNvml, source: NvmlSource) -> None:
    sweep(source, 1)
    nvml.hanging = {nvml.gpus[3].uuid}
    for second in range(2, 12):
        nvml.gpus[5].used += 1
        update = sweep(source, second)
        assert update.drivers[5].used == nvml.gpus[5].used
    ages = [view.age_s(Moment(11 * S, 0)) for view in update.drivers]
    assert ages == [0.0] * 3 + [10.0] + [0.0] * 4
    assert update.drivers[3].used == nvml.gpus[3].used
    assert (update.fault, len(askers())) == (None, 2)


def test_a_gpu_that_has_never_answered_is_a_row_too(nvml: FakeNvml, source: NvmlSource) -> None:
    nvml.hanging = {nvml.gpus[0].uuid}
    update = sweep(source, 1)
    assert len(update.drivers) == 8
    first = update.drivers[0]
    assert (first.state, first.used, first.index) == (DriverState.LOST, NO_ANSWER, 0)
    assert {view.state for view in update.drivers[1:]} == {DriverState.OK}


def test_a_gpu_that_answers_again_is_asked_again(nvml: FakeNvml, source: NvmlSource) -> None:
    nvml.hanging = {nvml.gpus[0].uuid, nvml.gpus[6].uuid}
    sweep(source, 1)
    assert len(askers()) == 3
    nvml.hanging = set()
    nvml.goes_on.set()
    for thread in askers()[:2]:
        thread.join(PATIENCE_S)
    sweep(source, 2)
    nvml.gpus[0].used = nvml.gpus[6].used = 7
    update = sweep(source, 3)
    assert [update.drivers[index].used for index in (0, 6)] == [7, 7]
    assert {view.age_s(Moment(3 * S, 0)) for view in update.drivers} == {0.0}


def test_a_driver_that_hangs_altogether_is_said_to_and_takes_a_thread_a_gpu(
    nvml: FakeNvml, source: NvmlSource
) -> None:
    sweep(source, 1)
    nvml.hanging = {gpu.uuid for gpu in nvml.gpus}
    for second in (2, 3, 4):
        update = sweep(source, second)
    assert update.fault == NO_ANSWER
    assert len(askers()) == 8


def broken() -> None:
    raise OSError("gone")


def test_what_breaks_a_question_breaks_the_source() -> None:
    with closing(Limited()) as patience, pytest.raises(OSError, match="gone"):
        patience.ask(0, broken)


def test_what_breaks_a_question_late_is_told_late() -> None:
    goes_on = threading.Event()

    def question() -> None:
        goes_on.wait()
        broken()

    with closing(Limited(0.01)) as patience:
        assert [patience.ask(0, question), patience.ask(0, broken)] == [False, False]
        (asker,) = askers()
        goes_on.set()
        asker.join(PATIENCE_S)
        with pytest.raises(OSError, match="gone"):
            patience.ask(0, broken)
