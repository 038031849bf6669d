"""Linear layers in 8 bits: what Transformer Engine keeps smaller, and what it keeps besides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.memory.activations import layer_activations
from scaletui_engine.memory.census import QUANTIZED, census_of
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases.moments import moments
from scaletui_engine.plan import Axes, Plan, Strategy
from scaletui_engine.runtime import Framework, RouterWeights, Runtime

MODELS = ("llama-3-8b", "mixtral-8x7b", "deepseek-v2-lite-16b")
PLAN = Plan(axes=Axes(tp=2, dp_shard=4), strategy=Strategy.ZERO1, global_batch=8, seq=4096)
INPUTS_OF_MATRICES = {
    "attention.input", "attention.output_copy", "attention.query_latent_normed", "attention.kv_latent_normed",
    "mlp.input", "mlp.down_input", "moe.permuted_input", "moe.down_input", "shared_experts.down_input",
}  # fmt: skip


def _sizes(model: str, runtime: Runtime) -> dict[str, int]:
    arch = load_model(model).arch
    load = load_of(arch, replace(PLAN, runtime=runtime))
    census = census_of(load)
    moe = bool(census.moe.tensors)
    saved = layer_activations(load, census.moe if moe else census.dense, moe=moe).everything
    return {tensor.name: tensor.bytes for tensor in saved}


def _buffers(runtime: Runtime, precision: str = "megatron") -> int:
    plan = replace(PLAN, runtime=runtime, precision=precision)
    (contents,) = contents_of(load_of(load_model("llama-3-8b").arch, plan))
    return sum(size for _, name, size in moments(contents)[0].terms if name == "buffers.eight_bit_weights")


@pytest.mark.parametrize("model", MODELS)
def test_inputs_of_matrices_take_half(model: str) -> None:
    wide, narrow = _sizes(model, Runtime()), _sizes(model, Runtime(float8=True))
    halved = {name for name in wide if 2 * narrow[name] == wide[name]}
    assert halved
    assert halved <= INPUTS_OF_MATRICES
    assert all(narrow[name] == wide[name] for name in wide.keys() - halved)


@pytest.mark.parametrize("model", MODELS)
def test_the_attention_kernel_keeps_its_output_beside_the_copy(model: str) -> None:
    """FlashAttention's backward pass wants 16 bits, the projection's 8."""
    narrow = _sizes(model, Runtime(float8=True))
    assert 2 * narrow["attention.output_copy"] == narrow["attention.output"]


def test_each_matrix_has_a_copy_and_its_transpose() -> None:
    unit = census_of(load_of(load_model("llama-3-8b").arch, PLAN)).dense
    matrices = sum(t.numel for t in unit.tensors if t.role in QUANTIZED and len(t.shape) == 2)
    assert _buffers(Runtime(float8=True)) == 2 * 32 * matrices


@pytest.mark.parametrize(
    ("runtime", "precision"),
    [
        (Runtime(), "megatron"),
        (Runtime(float8=True, float8_weights=True), "megatron"),
        (Runtime(float8=True), "fp8-deepseek-v3"),
    ],
)
def test_no_copies_without_8_bits_nor_of_8_bits(runtime: Runtime, precision: str) -> None:
    assert _buffers(runtime, precision) == 0


def test_torch_keeps_16_bit_inputs() -> None:
    """torchao's linear layer saves its input as it came; torchtitan measured 77.0 and 76.8 GiB with it."""
    torch = Runtime(framework=Framework.TORCH)
    assert _sizes("llama-3-8b", replace(torch, float8=True)) == _sizes("llama-3-8b", torch)


def test_inputs_of_activations_follow_where_the_plan_says_so() -> None:
    """Megatron's activation_func_fp8_input_store: 16-bit products, the activation's input in 8 bits."""
    wide, narrow = _sizes("mixtral-8x7b", Runtime()), _sizes("mixtral-8x7b", Runtime(float8_saved=("moe",)))
    assert 2 * narrow["moe.activation_input"] == wide["moe.activation_input"]
    assert {name for name in wide if narrow[name] != wide[name]} == {"moe.activation_input"}


def test_a_tile_of_8_bits_carries_a_scale() -> None:
    """128 elements of one byte and 4 bytes of scale (arXiv:2412.19437, section 3.3.2)."""
    plain, tiled = (_sizes("llama-3-8b", Runtime(float8=True, float8_tile=tile)) for tile in (None, 128))
    assert 128 * tiled["mlp.input"] == 132 * plain["mlp.input"]
    assert tiled["mlp.norm_input"] == plain["mlp.norm_input"]


def test_one_output_of_attention_serves_kernel_and_projection() -> None:
    """DeepSeek-V3's E5M6 (arXiv:2412.19437, section 3.3.3): 12 bits in place of 16 and a copy of 8."""
    two = _sizes("deepseek-v2-lite-16b", Runtime(float8=True))
    one = _sizes("deepseek-v2-lite-16b", Runtime(float8=True, attention_output_bits=12))
    assert 4 * one["attention.output"] == 3 * two["attention.output"]
    assert two.keys() - one.keys() == {"attention.output_copy"}


def test_weights_on_the_activation_spare_the_experts_outputs() -> None:
    arch = load_model("mixtral-8x7b").arch
    after = _sizes("mixtral-8x7b", Runtime())
    inside = _sizes("mixtral-8x7b", Runtime(router_weights=RouterWeights.ACTIVATION))
    assert after["moe.expert_output"] == arch.hidden * 2 * inside["moe.router_weights"] // 4
    assert {name: size for name, size in inside.items() if after.get(name) != size} == {
        "moe.router_weights": inside["moe.router_weights"]
    }
