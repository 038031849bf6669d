"""Logits that a torch pipeline's step returns: kept of every microbatch until it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.timeline import timeline
from scaletui_engine.plan import Recompute, Split
from scaletui_engine.runtime import Framework

CHOICES = Choices(
    "llama3.1-8b", "h100-sxm", 8, pp=4, seq=8192, micro_batch=1, global_batch=16, schedule="1F1B",
    recompute=Recompute.FULL, layer_split=Split.ENDS,
)  # fmt: skip
LOGITS = 8 * 8192 * 128256 * 2
"""Of 8 microbatches, in 16 bits."""


@pytest.mark.parametrize(
    ("framework", "more"), [(Framework.TORCH, LOGITS), (Framework.MEGATRON, 0)], ids=["torch", "megatron"]
)
def test_the_last_rank_keeps_the_logits_of_a_step(framework: Framework, more: int) -> None:
    scenario = scenario_from(CHOICES)
    freed, kept = (
        scenario.with_plan(
            replace(
                scenario.plan,
                runtime=replace(scenario.plan.runtime, framework=framework, return_outputs=returned),
            )
        )
        for returned in (False, True)
    )
    pairs = zip(evaluate(freed).stages, evaluate(kept).stages, strict=True)
    assert [after.peak_bytes - before.peak_bytes for before, after in pairs] == [0, 0, 0, more]
    last = timeline(kept, 3).points
    assert max(point.parts.total for point in last) <= evaluate(kept).stages[3].peak_bytes
