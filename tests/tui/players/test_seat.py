"""Whose place is played: the stage of a rank, and the ranks of its groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.playback import Playback
from scaletui.state.seat import Seat, members
from scaletui.state.step_play import Sight, takes_of
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.step_ranks import rank_rows
from scaletui.view.step_words import stretches, units_title
from scaletui_engine.sharding.orders import Order

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario


@pytest.mark.parametrize(
    ("seat", "stage", "group"),
    [
        (Seat(), 0, (0, 4)),
        (Seat(7), 0, (3, 7)),
        (Seat(9), 1, (9, 13)),
        (Seat(9, Order.LLAMA3), 0, (1, 9)),
        (Seat(99), 1, (11, 15)),
    ],
)
def test_stage_and_data_group(
    scenario: Callable[..., Scenario], seat: Seat, stage: int, group: tuple[int, ...]
) -> None:
    """tp 4 x dp 2 x pp 2; Llama 3's order has pp inside dp."""
    made = scenario(gpus=16, tp=4, pp=2)
    assert seat.stage(made) == stage
    found = takes_of(made, seat)
    assert found.ranks == group
    assert {take.step.stage_rank for take in found.takes if take.step} == {stage}


def test_the_embedding_has_its_first_and_last_stage(scenario: Callable[..., Scenario]) -> None:
    made = scenario(gpus=16, pp=4)
    assert members(made, "embedding", 2, Seat(5)) == (1, 13)
    assert members(made, "pp", 4, Seat(5)) == (1, 5, 9, 13)


def test_a_group_of_another_size_is_not_guessed(scenario: Callable[..., Scenario]) -> None:
    assert members(scenario(gpus=16, tp=4), "tp", 3, Seat()) == ()


@pytest.mark.parametrize(
    ("numbers", "said"),
    [([0, 1, 2, 8, 9], "0-2, 8-9"), ([5], "5"), ([4, 3], "3-4"), ([0, 2], "0, 2"), ([], "")],
)
def test_a_range_is_of_numbers_that_follow_each_other(numbers: list[int], said: str) -> None:
    assert stretches(numbers) == said


def test_the_heading_names_rank_stage_and_layers(scenario: Callable[..., Scenario]) -> None:
    found = takes_of(scenario(gpus=16, tp=4, pp=2), Seat(9))
    take = found.takes[-1]
    assert take.step is not None
    sight = Sight(found, take, take.step, 0, Playback())
    assert units_title(sight) == "rank 9: stage 1, layers 16-31"
    rows = rank_rows(replace(sight, index=take.at((0, 0, 3))), Box(80, 9), Pen())
    assert ["".join(span.text for span in row)[:9] for row in rows[1:]] == [" rank 9  ", " rank 13 "]
