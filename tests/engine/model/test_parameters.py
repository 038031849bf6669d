"""Parameter counts, summed from the tensor lists, against published and executed ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.tensors import ParameterCount, count_parameters, tensors

GOLDEN = Path(__file__).parents[2] / "golden"
COUNTED: list[dict[str, Any]] = json.loads((GOLDEN / "model_parameters.json").read_text("utf-8"))
BUILT: list[dict[str, Any]] = json.loads((GOLDEN / "transformers_parameters.json").read_text("utf-8"))[
    "models"
]

BALANCE_BIAS = {"deepseek-v3-671b": 58 * 256}
"""Router biases that transformers keeps as buffers: one for every expert of the 58 expert layers."""

PUBLISHED_WITHIN = 0.045
"""Published sizes are rounded names: "7B" is 6.74e9, 4 percent off, and that is the worst of them."""


def _id(row: dict[str, Any]) -> str:
    return str(row["id"])


def test_every_model_has_its_row() -> None:
    assert [row["id"] for row in COUNTED] == list(model_ids())
    assert len(COUNTED) == 75


@pytest.mark.parametrize("row", COUNTED, ids=_id)
def test_counts_are_exact(row: dict[str, Any]) -> None:
    count = count_parameters(load_model(row["id"]).arch)
    assert count == ParameterCount(
        total=row["total"],
        active=row["active"],
        embedding=row["embedding"],
        lm_head=row["lm_head"],
        tied_head=row["tied_head"],
    )
    assert count.non_embedding == row["non_embedding"]
    assert count.active_without_embedding == row["active_without_embedding"]


@pytest.mark.parametrize("row", BUILT, ids=_id)
def test_totals_equal_what_transformers_builds(row: dict[str, Any]) -> None:
    count = count_parameters(load_model(row["id"]).arch)
    assert count.total - BALANCE_BIAS.get(row["id"], 0) == row["total"]


@pytest.mark.parametrize("row", BUILT, ids=_id)
def test_first_layer_equals_what_transformers_builds(row: dict[str, Any]) -> None:
    listed = tensors(load_model(row["id"]).arch)
    first = sum(t.numel * t.experts for t in listed if t.layers is not None and 0 in t.layers)
    assert first == row["first_layer"]


@pytest.mark.parametrize("row", [row for row in COUNTED if row["published"]], ids=_id)
def test_totals_are_near_the_published_size(row: dict[str, Any]) -> None:
    assert row["total"] == pytest.approx(row["published"]["total"], rel=PUBLISHED_WITHIN)
