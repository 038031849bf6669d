"""The lesson's calculators against what the lesson's own code returned (tests/golden/lesson/oracle.json)."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scaletui_engine import lesson
from scaletui_engine.errors import ScenarioError
from scaletui_engine.lesson.data_parallel import (
    corrected_model,
    lesson_model,
    shard_sizes,
    weighted_data_parallelism,
)
from scaletui_engine.lesson.pipeline import corrected_pipeline
from scaletui_engine.lesson.precision import corrected_precision
from scaletui_engine.lesson.tensor_parallel import row_parallel

ORACLE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "lesson" / "oracle.json").read_text(encoding="utf-8")
)
EXACT = 1e-12
BLAS = 5e-13
"""A product of 8192 terms of order 1 summed in another order: the oracle saw up to 1.7e-13."""


def rows(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """(arguments, results) of a table of the oracle; "-" is an argument that was not given."""
    table = ORACLE[name]
    return [
        (
            {key: value for key, value in zip(table["arguments"], given, strict=True) if value != "-"},
            dict(zip(table["results"], got, strict=True)),
        )
        for given, got in table["rows"]
    ]


def grouped(name: str, argument: str) -> list[Any]:
    """The rows of a table in one case for each value of an argument."""
    table = rows(name)
    values = dict.fromkeys(given[argument] for given, _ in table)
    return [
        pytest.param([row for row in table if row[0][argument] == value], id=f"{argument}-{value}")
        for value in values
    ]


def case(row: tuple[dict[str, Any], dict[str, Any]]) -> str:
    return "-".join(str(value) for value in row[0].values())


@pytest.mark.parametrize("table", grouped("memory_calculator", "sharding"))
def test_memory_calculator(table: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for arguments, expected in table:
        result: dict[str, Any] = dict(lesson.memory_calculator(**arguments))
        echoed = {key: result.pop(key) for key in ("params_billions", "num_gpus", "sharding")}
        assert echoed == {key: arguments[key] for key in echoed}
        assert result == pytest.approx(expected, rel=EXACT, abs=0), arguments


@pytest.mark.parametrize("row", rows("mixed_precision_comparison"), ids=case)
def test_mixed_precision_comparison(row: tuple[dict[str, Any], dict[str, Any]]) -> None:
    arguments, expected = row
    assert lesson.mixed_precision_comparison(**arguments) == pytest.approx(expected, rel=EXACT, abs=0)


@pytest.mark.parametrize("table", grouped("pipeline", "num_layers"))
def test_pipeline(table: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for arguments, expected in table:
        timeline, total, bubble = lesson.simulate_pipeline_parallelism(**arguments)
        assert total == expected["total_time"] == expected["closed_form_total"], arguments
        assert bubble == pytest.approx(expected["bubble_fraction"], rel=EXACT, abs=EXACT), arguments
        assert len(timeline) == 2 * arguments["num_stages"] * arguments["num_microbatches"]
        assert {end - start for start, end in timeline.values()} == {expected["layers_per_stage"]}


@pytest.mark.parametrize(("given", "events"), ORACLE["pipeline_timelines"]["rows"], ids=str)
def test_pipeline_timeline(given: list[int], events: list[list[Any]]) -> None:
    timeline, _, _ = lesson.simulate_pipeline_parallelism(*given)
    assert sorted([*key, *span] for key, span in timeline.items()) == sorted(events)


@pytest.mark.parametrize("table", grouped("pipeline", "num_layers"))
def test_corrected_pipeline_names_both_bubbles_and_drops_no_layer(
    table: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    for arguments, expected in table:
        if expected["layers_dropped"]:
            with pytest.raises(ScenarioError, match=r"layers / .* stages = .*not a whole number"):
                corrected_pipeline(**arguments)
            continue
        pipeline = corrected_pipeline(**arguments)
        closed_form = float(Fraction(expected["closed_form_bubble"]))
        assert pipeline.bubble_over_makespan == pytest.approx(closed_form, rel=EXACT), arguments
        assert pipeline.bubble_over_ideal == pytest.approx(expected["bubble_over_ideal"], rel=EXACT)
        assert pipeline.total_time * 2 == 3 * expected["total_time"]


def batch_and_weight(arguments: dict[str, Any]) -> tuple[Any, Any]:
    random = np.random.RandomState(ORACLE["data_parallel"]["seed"])
    data = random.randn(arguments["n_samples"], arguments["d_in"])
    return data, random.randn(arguments["d_in"], arguments["d_out"])


@pytest.mark.parametrize("row", rows("data_parallel"), ids=case)
def test_data_parallelism(row: tuple[dict[str, Any], dict[str, Any]]) -> None:
    arguments, expected = row
    data, weight = batch_and_weight(arguments)
    full_loss, full_gradient = lesson_model(weight)(data)
    loss, gradient = lesson.simulate_data_parallelism(data, arguments["num_gpus"], lesson_model(weight))
    assert shard_sizes(len(data), arguments["num_gpus"]) == expected["shard_sizes"]
    assert loss == pytest.approx(expected["lesson_loss"], rel=EXACT)
    assert np.linalg.norm(gradient) == pytest.approx(expected["lesson_grad_norm"], rel=EXACT)
    assert loss - full_loss == pytest.approx(expected["lesson_loss_bias"], abs=EXACT)
    error = np.linalg.norm(gradient - full_gradient) / np.linalg.norm(full_gradient)
    assert error == pytest.approx(expected["lesson_grad_rel_err"], abs=EXACT)


@pytest.mark.parametrize("row", rows("data_parallel"), ids=case)
def test_weighted_data_parallelism_is_the_full_batch(row: tuple[dict[str, Any], dict[str, Any]]) -> None:
    arguments, expected = row
    data, weight = batch_and_weight(arguments)
    loss, gradient = weighted_data_parallelism(data, arguments["num_gpus"], lesson_model(weight))
    assert loss == pytest.approx(expected["full_batch_loss"], rel=EXACT)
    assert np.linalg.norm(gradient) == pytest.approx(expected["full_batch_grad_norm"], rel=EXACT)


def test_corrected_gradient_is_the_loss_gradient() -> None:
    check = ORACLE["gradient_check"]
    data, weight = batch_and_weight({"n_samples": 64, "d_in": 32, "d_out": 16})
    at = tuple(check["index"])
    of_lesson, corrected = lesson_model(weight)(data)[1][at], corrected_model(weight)(data)[1][at]
    assert of_lesson == pytest.approx(check["lesson_gradient"], rel=EXACT)
    assert of_lesson / corrected == pytest.approx(16, rel=EXACT)
    assert corrected == pytest.approx(check["numeric_gradient_of_loss"], rel=1e-6)


def test_more_gpus_than_samples_is_nan_in_the_lesson_and_refused_by_us() -> None:
    given = ORACLE["more_gpus_than_samples"]
    data, weight = batch_and_weight({"n_samples": given["n_samples"], "d_in": 4, "d_out": 3})
    model = lesson_model(weight)
    with pytest.warns(RuntimeWarning, match="empty slice|invalid value"):
        loss, gradient = lesson.simulate_data_parallelism(data, given["num_gpus"], model)
    assert np.isnan(loss)
    assert np.isnan(gradient).any()
    with pytest.raises(ScenarioError, match=r"3 samples on 4 GPUs leave 1 without a sample; .*: 3 GPUs"):
        weighted_data_parallelism(data, given["num_gpus"], model)


@pytest.mark.parametrize("row", rows("tensor_parallel"), ids=case)
def test_tensor_parallelism(row: tuple[dict[str, Any], dict[str, Any]]) -> None:
    arguments, expected = row
    random = np.random.RandomState(ORACLE["tensor_parallel"]["seed"])
    x = random.randn(arguments["m"], arguments["d_in"])
    weight = random.randn(arguments["d_in"], arguments["d_out"])
    output, error = lesson.simulate_tensor_parallelism(x, weight, arguments["num_gpus"])
    assert output.shape == (arguments["m"], arguments["d_out"])
    assert error <= BLAS
    assert output.sum() == pytest.approx(expected["output_sum"], rel=EXACT)
    assert np.linalg.norm(output) == pytest.approx(expected["output_fro"], rel=EXACT)
    by_rows, rows_error = row_parallel(x, weight, arguments["num_gpus"])
    assert rows_error <= BLAS
    assert np.abs(by_rows - output).max() <= 2 * BLAS


def test_uneven_columns_are_refused() -> None:
    given = ORACLE["uneven_columns"]
    x, weight = np.ones((2, 8)), np.ones((8, given["args"]["d_out"]))
    with pytest.raises(AssertionError, match=f"^{given['message']}$"):
        lesson.simulate_tensor_parallelism(x, weight, given["args"]["num_gpus"])
    with pytest.raises(ScenarioError, match=r"10 columns / 4 GPUs = 2\.5, .*; nearest valid: 2 or 5 GPUs"):
        row_parallel(x, weight, given["args"]["num_gpus"])


def test_thirty_layers_on_four_stages_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"30 layers / 4 stages = 7\.5, .*; nearest valid: 3 or 5 stages"):
        corrected_pipeline(30, 4, 8)


def test_mixed_precision_with_its_master_weights_saves_nothing() -> None:
    for billions in (7, 13, 70, 405):
        recipes, of_lesson = corrected_precision(billions), lesson.mixed_precision_comparison(billions)
        assert recipes["mixed_gb"] == recipes["fp32_gb"] == of_lesson["fp16_with_master_gb"]
        assert recipes["savings_vs_fp32"] == 0
