"""Recipes: the bytes of every part, and the totals that conventions are known by."""

from __future__ import annotations

import pytest

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.plan import Axes, Plan, Strategy
from scaletui_engine.precisions import held_precision, precision, precision_ids
from scaletui_engine.runtime import Framework, Runtime

TOTALS = [
    ("torchtitan-pure-bf16", "bf16-pure", 8),
    ("torchtitan-pure-bf16-reduced-in-fp32", "bf16-reduce-fp32", 8),
    ("jax-scaling-book", "jax-book", 10),
    ("lesson", "lesson", 12),
    ("bf16-with-fp32-adam", "bf16-fp32-adam", 12),
    ("torchtitan-fp32-with-bf16-adam", "fp32-bf16-adam", 12),
    ("zero-paper", "zero", 16),
    ("torch-fsdp-mixed", "bf16-mixed", 16),
    ("torch-fp16-mixed", "fp16-mixed", 16),
    ("fp32", "fp32", 16),
    ("megatron", "megatron", 18),
    ("megatron-precision-aware-optimizer", "megatron-bf16", 12),
    ("nanotron", "nanotron", 20),
    ("playbook-transformer-engine", "fp8-te", 16),
    ("playbook-deepseek-v3", "fp8-deepseek-v3", 15),
    ("playbook-nanotron-fp8", "fp8-nanotron", 10),
    ("playbook-fp8-lm-o3", "fp8-lm", 9),
]


@pytest.mark.parametrize(("recipe", "total"), [row[1:] for row in TOTALS], ids=[row[0] for row in TOTALS])
def test_parts_add_up_to_the_named_total(recipe: str, total: int) -> None:
    found = precision(recipe)
    assert found.weights + found.gradients + found.master + sum(found.moments) == total
    assert found.adam_bytes == total
    assert len(found.source) > 15


def test_every_recipe_has_a_row() -> None:
    assert sorted(row[1] for row in TOTALS) == sorted(precision_ids())


PARTS = [
    ("bf16-mixed", Strategy.FSDP, (4, 4, 0)),
    ("bf16-mixed", Strategy.HSDP, (4, 4, 0)),
    ("bf16-mixed", Strategy.DDP, (4, 4, 0)),
    ("bf16-mixed", Strategy.ZERO1, (2, 4, 4)),
    ("bf16-mixed", Strategy.ZERO3, (2, 2, 4)),
    ("fp16-mixed", Strategy.ZERO1, (2, 2, 4)),
    ("bf16-pure", Strategy.ZERO3, (2, 2, 0)),
    ("megatron", Strategy.FSDP, (2, 4, 4)),
]


@pytest.mark.parametrize(("recipe", "strategy", "parts"), PARTS)
def test_what_a_strategys_framework_holds(
    recipe: str, strategy: Strategy, parts: tuple[int, int, int]
) -> None:
    held = held_precision(Plan(Axes(), strategy=strategy, precision=recipe))
    assert (held.weights, held.gradients, held.master) == parts
    assert held.id == recipe


def test_the_runtime_overrules_the_strategy() -> None:
    plan = Plan(Axes(), strategy=Strategy.DDP, runtime=Runtime(framework=Framework.MEGATRON))
    assert held_precision(plan).adam_bytes == 18


def test_unknown_recipe() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown precision 'bf16mixed', did you mean 'bf16-mixed'\?"):
        precision("bf16mixed")
