"""Where the group that a collective is played on lies in its cluster, and what of it is played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.collective_choice import of_row, seated
from scaletui.state.collective_sight import sight_of
from scaletui.state.playback import Playback
from scaletui.state.seat import Seat
from scaletui.view.box import Box
from scaletui.view.collective_grid import grid_rows
from scaletui.view.collective_layout import layout_of
from scaletui.view.collective_words import answer_row, step_rows
from scaletui.view.pen import Pen
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.traffic.table import traffic

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario

    MakeScenario = Callable[..., Scenario]


def text(row: Row) -> str:
    return "".join(span.text for span in row)


@pytest.mark.parametrize(
    ("options", "rank", "said"),
    [
        ({"gpus": 32, "dp_shard": 16, "strategy": Strategy.HSDP, "tp": 1}, 20, "node 2"),
        ({"gpus": 32, "dp_shard": 8, "strategy": Strategy.HSDP, "tp": 2, "dp_replicate": 2}, 31, "node 2"),
    ],
)
def test_nodes_are_the_clusters(
    scenario: MakeScenario, options: dict[str, object], rank: int, said: str
) -> None:
    """The group of rank 20 lies on nodes 2 and 3: its first line must not call them 0 and 1."""
    of = scenario(**options)
    rows = traffic(of).implemented
    place = next(place for place, row in enumerate(rows) if row.group == "fsdp")
    choice = seated(of, rows, of_row(of, rows, place), Seat(rank))
    sight = sight_of(choice, Playback(), 0, 0)
    layout = layout_of(sight, Box(120, 40), sight.nodes)
    lines = [text(row) for row in grid_rows(sight, layout, 120, Pen())]
    assert [line.split()[1:3] for line in lines if "node" in line] == [said.split(), ["node", "3"]]
    assert len(lines) == layout.height_with(sight.nodes)


def test_a_part_of_a_large_group_says_so(scenario: MakeScenario) -> None:
    of = scenario(gpus=512, strategy=Strategy.DDP)
    rows = traffic(of).implemented
    choice = seated(of, rows, of_row(of, rows, 0), Seat(0))
    sight = sight_of(choice, Playback(), 0, 0)
    assert "over 128 of 512 ranks" in text(answer_row(sight, 80, Pen()))
    assert "the first 128 of 512 ranks alone; all take 1,022 steps" in text(step_rows(sight, 60, Pen())[0])
