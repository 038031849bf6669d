"""Other estimators beside the budget: their own figures to the byte, and a reason for every difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scaletui_engine.catalog import model_ids
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory.conventions.beside import beside
from scaletui_engine.plan import Offload, Strategy
from scaletui_engine.runtime import Lora

EIGHT_B = Choices("llama3.1-8b", "h100-sxm", 8)
PARAMS = 8_030_261_248
LARGEST = 128256 * 4096

ROWS = [
    ("fp32", {"gpus": 1, "strategy": Strategy.DDP, "precision": "fp32"}, "accelerate", 16 * PARAMS, ()),
    (
        "mixed",
        {"gpus": 1, "strategy": Strategy.DDP},
        "accelerate",
        8 * PARAMS,
        ("why.largest_of_four",),
    ),
    ("sharded", {"precision": "fp32"}, "accelerate", 16 * PARAMS, ("why.not_sharded",)),
    ("paper", {}, "zero_paper", 2 * PARAMS, ()),
    ("paper-2", {"strategy": Strategy.ZERO2}, "zero_paper", 2 * PARAMS + 14 * PARAMS // 8, ()),
    ("paper-tp", {"tp": 2, "gpus": 16}, "zero_paper", 2 * PARAMS, ("why.model_axes",)),
    (
        "zero-2",
        {"strategy": Strategy.ZERO2},
        "deepspeed_zero2",
        2 * PARAMS + 18 * PARAMS // 8,
        ("why.fp32_gradients",),
    ),
    (
        "zero-2-offloaded",
        {"strategy": Strategy.ZERO2, "offload": Offload.OPTIMIZER},
        "deepspeed_zero2",
        2 * PARAMS,
        (),
    ),
    (
        "zero-3",
        {"strategy": Strategy.ZERO3},
        "deepspeed_zero3",
        4 * LARGEST + 18 * PARAMS // 8,
        ("why.largest_layer", "why.fp32_gradients"),
    ),
    (
        "zero-3-offloaded",
        {"strategy": Strategy.ZERO3, "offload": Offload.PARAMS},
        "deepspeed_zero3",
        4 * LARGEST,
        ("why.largest_layer",),
    ),
    (
        "adapters",
        {"gpus": 1, "strategy": Strategy.DDP, "lora": Lora()},
        "zero_paper",
        16 * PARAMS,
        ("why.frozen",),
    ),
    ("8-bit", {"optimizer": "adam8bit"}, "zero_paper", 2 * PARAMS, ("why.recipe",)),
]


@pytest.mark.parametrize(
    ("changes", "tool", "said", "reasons"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_figures_and_reasons(changes: dict[str, Any], tool: str, said: int, reasons: tuple[str, ...]) -> None:
    rows = {one.tool: one for one in beside(scenario_from(replace(EIGHT_B, **changes)))}
    assert (rows[f"tool.{tool}"].bytes, rows[f"tool.{tool}"].reasons) == (said, reasons)


@pytest.mark.parametrize("name", model_ids())
@pytest.mark.parametrize("strategy", list(Strategy))
def test_no_difference_without_a_reason(name: str, strategy: Strategy) -> None:
    for one in beside(scenario_from(Choices(name, "h100-sxm", 24, strategy=strategy))):
        assert bool(one.reasons) is (one.bytes != one.ours), one
