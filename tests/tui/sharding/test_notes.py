"""What is strange about a mesh is told beside its traffic, and in the answer where training is at stake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.sharding_traffic import traffic_pane
from scaletui.view.sharding_words import answer_row
from scaletui_engine.plan import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.sharding_sight import Sight
    from scaletui_engine.scenario import Scenario

    Make = Callable[..., Scenario]
    See = Callable[..., Sight]

PEN = Pen()


@pytest.mark.parametrize(("replicate", "said"), [(8, True), (4, False)])
def test_replicas_that_are_never_summed_are_told_beside_the_traffic(
    scenario: Make, sight: See, replicate: int, said: bool
) -> None:
    plan = scenario(gpus=8, strategy=Strategy.FSDP1, dp_replicate=replicate)
    pane = "".join(span.text for row in traffic_pane(sight(plan), Box(80, 12), PEN) for span in row)
    answer = "".join(span.text for span in answer_row(sight(plan), 80, PEN))
    assert ("never summed" in pane, "replicas never summed" in answer) == (said, said)
