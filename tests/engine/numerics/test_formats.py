"""Number formats, block formats and loss scalers against records of ml_dtypes, torch and DeepSpeed."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scaletui_engine.errors import DivisibilityError, UnknownNameError, ValueRangeError
from scaletui_engine.numerics.block_formats import MX, quantize_mx, quantize_nvfp4
from scaletui_engine.numerics.formats import FORMATS, Overflow, number_format, stochastic_bfloat16, tf32_away
from scaletui_engine.numerics.loss_scaler import DeepSpeedScaler, TorchScaler, largest_safe_scale, sgd_steps

DATA: dict[str, Any] = json.loads((Path(__file__).parents[2] / "golden" / "formats.json").read_text("utf-8"))
STORED = {name: rule for name, rule in DATA["formats"].items() if name != "tf32"}
EXAMPLES = DATA["examples"]


def number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or (
        one == other and math.copysign(1, one) == math.copysign(1, other)
    )


@pytest.mark.parametrize("name", DATA["formats"])
def test_properties(name: str) -> None:
    rule, expected = number_format(name), DATA["formats"][name]
    for key in ("max", "min_normal", "min_subnormal", "eps"):
        assert getattr(rule, key) == expected[key], key
    assert (rule.exponent_bits, rule.mantissa_bits, rule.bias) == (
        expected["exponent_bits"], expected["mantissa_bits"], expected["bias"],
    )  # fmt: skip
    assert rule.bits == expected["bits"]


@pytest.mark.parametrize("name", [name for name in STORED if "n_nan_codes" in STORED[name]])
def test_codes(name: str) -> None:
    rule, expected = number_format(name), STORED[name]
    values = [rule.decode(code) for code in range(1 << rule.bits)]
    finite = [value for value in values if math.isfinite(value)]
    assert len(finite) == expected["n_finite_codes"]
    assert len(set(finite)) == expected["n_distinct_finite_values"]
    assert sum(map(math.isnan, values)) == expected["n_nan_codes"]
    assert sum(map(math.isinf, values)) == expected["n_inf_codes"]
    for code, value in enumerate(values):
        assert math.isnan(value) or rule.encode(value) == code
    if "positive_values" in expected:
        assert sorted(value for value in set(finite) if value > 0) == expected["positive_values"]


@pytest.mark.parametrize("name", STORED)
def test_casts(name: str) -> None:
    rule = number_format(name)
    for case in STORED[name]["casts_from_float32"]:
        given = case["x"] if name == "float64" else np.float32(case["x"])
        found = float(rule.cast(given))
        assert same(found, number(case["y"])), (case, found)
        assert f"{rule.encode(found):0{max(rule.bits + 7 >> 3, 1) * 2}x}" == case["bits"], case
    assert same(float(rule.cast(np.float32(1e9))), number(STORED[name]["overflow_of_1e9"]))


def test_tf32_rounds_both_ways() -> None:
    for case in DATA["formats"]["tf32"]["casts_from_float32"]:
        given = np.float32(case["x"])
        assert same(float(number_format("tf32").cast(given)), number(case["y_rne"])), case
        assert same(float(tf32_away(given)), number(case["y_rna"])), case


@pytest.mark.parametrize("case", DATA["torch"]["cast_mismatch_vs_ml_dtypes"]["float8_e4m3fn"], ids=str)
def test_torch_saturates_e4m3(case: dict[str, Any]) -> None:
    rule, given = number_format("float8_e4m3fn"), np.float32(case["x"])
    assert float(rule.cast(given, Overflow.SATURATE)) == case["torch"]
    assert same(float(rule.cast(given, Overflow.NAN)), number(case["ml_dtypes"]))


BLOCKS = [(name, case) for name in (*MX, "nvfp4") for case in DATA["block_formats"][name]["cases"]]


@pytest.mark.parametrize(("name", "case"), BLOCKS)
def test_block_formats(name: str, case: str) -> None:
    expected = DATA["block_formats"][name]["cases"][case]
    found = quantize_nvfp4(expected["x"]) if name == "nvfp4" else quantize_mx(expected["x"], name)
    np.testing.assert_array_equal(found.values, expected["q"])
    np.testing.assert_allclose(found.dequantized(), expected["dequant"], rtol=1e-15)
    if name == "nvfp4":
        assert (found.tensor_scale, list(found.scales)) == (
            expected["tensor_scale"],
            expected["block_scales"],
        )
    else:
        assert list(found.scales) == [expected["scale"]]
    error = np.max(np.abs(found.dequantized() - expected["x"]))
    np.testing.assert_allclose(error, expected["max_abs_err"], rtol=1e-12)
    lost = np.count_nonzero((found.dequantized() == 0) & (np.asarray(expected["x"]) != 0))
    assert lost == expected["zeros_out"]
    assert found.bits_per_element == DATA["block_formats"][name]["bits_per_element"]


def test_master_weights() -> None:
    bf16 = number_format("bfloat16")
    without, master = 1.0, np.float32(1.0)
    for _ in range(1000):
        without = float(bf16.cast(np.float32(without + 1e-3)))
        master = np.float32(master + np.float32(1e-3))
    expected = EXAMPLES["fp32_master_plus_1e-3_x1000"]
    assert without == EXAMPLES["bf16_weight_plus_1e-3_x1000_without_master"]["result"]
    assert (float(master), float(bf16.cast(master))) == (expected["result"], expected["bf16_view"])


@pytest.mark.parametrize(
    ("name", "start", "expected"),
    [
        ("bfloat16", 256, "bf16_256_plus_1"),
        ("float16", 2048, "fp16_2048_plus_1"),
        ("float32", 1 << 24, "fp32_16777216_plus_1"),
    ],
)
def test_one_more_is_the_same(name: str, start: int, expected: str) -> None:
    assert float(number_format(name).cast(float(start + 1))) == EXAMPLES[expected]


@pytest.mark.parametrize("case", EXAMPLES["fp16_grad_underflow"], ids=lambda case: str(case["grad"]))
def test_loss_scale_saves_small_gradients(case: dict[str, float]) -> None:
    fp16 = number_format("float16")
    scaled = float(fp16.cast(np.float32(case["grad"]) * np.float32(case["scale"])))
    assert (float(fp16.cast(np.float32(case["grad"]))), scaled) == (case["fp16"], case["fp16_scaled"])
    assert float(np.float32(scaled) / np.float32(case["scale"])) == case["unscaled_fp32"]


@pytest.mark.parametrize(
    "case", EXAMPLES["max_safe_loss_scale_for_absmax_grad"], ids=lambda case: str(case["absmax"])
)
def test_largest_safe_scale(case: dict[str, float]) -> None:
    assert largest_safe_scale(case["absmax"]) == case["largest_pow2_scale"]


def test_stochastic_rounding() -> None:
    expected = EXAMPLES["stochastic_rounding_bf16"]
    found = stochastic_bfloat16(np.full(65536, expected["x"]), np.arange(65536))
    assert (found.min(), found.max(), found.mean()) == (expected["lo"], expected["hi"], expected["mean"])
    assert np.mean(found > 1) == expected["p_up_exact"]


TRACES = DATA["torch"]["gradscaler_update_traces"]


def torch_scaler(args: dict[str, Any]) -> TorchScaler:
    given = {("scale" if key == "init" else key): value for key, value in args.items()}
    return TorchScaler(**given)


@pytest.mark.parametrize("name", [name for name, trace in TRACES.items() if "scale_tracker" in trace])
def test_torch_scaler_traces(name: str) -> None:
    trace, scaler = TRACES[name], torch_scaler(TRACES[name]["args"])
    found = []
    for overflow in trace.get("found_inf", [0] * len(trace["scale_tracker"])):
        scaler = scaler.update(bool(overflow))
        found.append([scaler.scale, scaler.tracker])
    assert found == trace["scale_tracker"]


@pytest.mark.parametrize(("name", "times"), [("backoff_30_overflows", 30), ("backoff_200_overflows", 200)])
def test_torch_scaler_has_no_floor(name: str, times: int) -> None:
    scaler = TorchScaler()
    for _ in range(times):
        scaler = scaler.update(True)
    assert [scaler.scale, scaler.tracker] == TRACES[name]["final"]


def test_torch_scaler_grows_every_2000_steps() -> None:
    scaler, changes = TorchScaler(), []
    for step in range(1, 4002):
        before, scaler = scaler, scaler.update(False)
        if step == 1 or before.scale != scaler.scale:
            changes.append([step, scaler.scale, scaler.tracker])
    assert changes == TRACES["default_4001_finite_changes"]["changes"]


def test_torch_scaler_end_to_end() -> None:
    data = DATA["torch"]["gradscaler_end_to_end_cpu"]
    scaler = TorchScaler(data["init_scale"], growth_interval=data["growth_interval"])
    steps = list(sgd_steps(scaler, [number(row["grad_mult"]) for row in data["log"]], data["sgd_lr"]))
    for found, row in zip(steps, data["log"], strict=True):
        expected = (row["skipped"], row["scale_after"], row["tracker"])
        assert (found.skipped, found.scale_after, found.tracker) == expected
        assert found.param == row["param"]


DEEPSPEED = {name: trace for name, trace in DATA["deepspeed_loss_scaler"].items() if name != "source"}


@pytest.mark.parametrize("name", [name for name, trace in DEEPSPEED.items() if "overflow" in trace])
def test_deepspeed_scaler_traces(name: str) -> None:
    trace, args = DEEPSPEED[name], DEEPSPEED[name]["args"]
    names = ("init_scale", "scale_window", "min_scale", "delayed_shift", "consecutive_hysteresis")
    scaler = DeepSpeedScaler(*(args[name] for name in names))
    for overflow, expected in zip(trace["overflow"], trace["scale_hysteresis"], strict=False):
        if isinstance(expected, dict):
            with pytest.raises(ValueRangeError, match="min_scale 1"):
                scaler.update(bool(overflow))
            return
        scaler = scaler.update(bool(overflow))
        assert [scaler.scale, scaler.patience] == expected


def test_deepspeed_scaler_grows_at_1001() -> None:
    scaler, scales = DeepSpeedScaler(), [65536.0]
    for _ in range(3001):
        scaler = scaler.update(False)
        scales.append(scaler.scale)
    changes = [[step, after] for step, (before, after) in enumerate(pairwise(scales), 1) if before != after]
    assert changes == DEEPSPEED["default_growth_steps"]["changes"]


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bfloat16'"):
        number_format("bfloat61")
    with pytest.raises(DivisibilityError, match="33 elements / block 32"):
        quantize_mx(np.zeros(33), "mxfp4")
    with pytest.raises(ValueRangeError, match="growth 1 > 1"):
        TorchScaler(growth_factor=1.0).update(False)
    assert set(FORMATS) >= set(DATA["formats"])
