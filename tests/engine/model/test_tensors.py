"""The tensor lists: names, shapes and rules of every family."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.model import Arch, Moe, Role, Tensor, TpRule
from scaletui_engine.tensors import count_parameters, tensors
from scaletui_engine.tensors.feed_forward import dense_layers

LAYER = "layers.{layer}."
ATTENTION = f"{LAYER}attention."


def _named(model: str) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in tensors(load_model(model).arch)}


@pytest.mark.parametrize("model", model_ids())
def test_no_tensor_is_listed_twice(model: str) -> None:
    listed = [(tensor.name, tensor.layers) for tensor in tensors(load_model(model).arch)]
    assert len(listed) == len(set(listed))
    assert all(tensor.numel > 0 and tensor.copies > 0 for tensor in tensors(load_model(model).arch))


@pytest.mark.parametrize("model", model_ids())
def test_templates_name_what_they_repeat_over(model: str) -> None:
    for tensor in tensors(load_model(model).arch):
        assert ("{layer}" in tensor.name) == (tensor.layers is not None)
        assert ("{expert}" in tensor.name) == (tensor.role in (Role.EXPERT, Role.SHARED_EXPERT))


SHAPES = [
    ("gpt2-124m", "tok_embeddings", (50257, 768), TpRule.VOCAB),
    ("gpt2-124m", "pos_embeddings", (1024, 768), TpRule.REPLICATED),
    ("gpt2-124m", f"{ATTENTION}wo.bias", (768,), TpRule.REPLICATED),
    ("gpt2-124m", f"{LAYER}feed_forward.w1.bias", (3072,), TpRule.COLUMN),
    ("gpt2-124m", f"{LAYER}attention_norm.bias", (768,), TpRule.REPLICATED),
    ("llama3-8b", f"{ATTENTION}wq", (4096, 4096), TpRule.COLUMN),
    ("llama3-8b", f"{ATTENTION}wk", (1024, 4096), TpRule.KV),
    ("llama3-8b", f"{ATTENTION}wo", (4096, 4096), TpRule.ROW),
    ("llama3-8b", f"{LAYER}feed_forward.w2", (4096, 14336), TpRule.ROW),
    ("llama3-8b", "output", (128256, 4096), TpRule.VOCAB),
    ("qwen2.5-7b", f"{ATTENTION}wk.bias", (512,), TpRule.KV),
    ("qwen3-8b", f"{ATTENTION}q_norm", (128,), TpRule.REPLICATED),
    ("olmo2-32b", f"{ATTENTION}q_norm", (5120,), TpRule.REPLICATED),
    ("olmo2-32b", f"{ATTENTION}k_norm", (1024,), TpRule.REPLICATED),
    ("gemma2-2b", f"{LAYER}post_ffn_norm", (2304,), TpRule.REPLICATED),
    ("phi-2", "output.bias", (51200,), TpRule.VOCAB),
    ("gpt-oss-20b", f"{ATTENTION}sinks", (64,), TpRule.COLUMN),
    ("gpt-oss-20b", f"{LAYER}router.bias", (32,), TpRule.REPLICATED),
    ("gpt-oss-20b", f"{LAYER}experts.{{expert}}.w2.bias", (2880,), TpRule.REPLICATED),
    ("mixtral-8x7b", f"{LAYER}experts.{{expert}}.w1", (14336, 4096), TpRule.COLUMN),
    ("deepseek-v3", f"{ATTENTION}wq_a", (1536, 7168), TpRule.REPLICATED),
    ("deepseek-v3", f"{ATTENTION}wkv_a", (576, 7168), TpRule.REPLICATED),
    ("deepseek-v3", f"{ATTENTION}wkv_b", (32768, 512), TpRule.COLUMN),
    ("deepseek-v3", f"{ATTENTION}kv_norm", (512,), TpRule.REPLICATED),
    ("deepseek-v2-lite", f"{ATTENTION}wq", (3072, 2048), TpRule.COLUMN),
]


@pytest.mark.parametrize(("model", "name", "shape", "rule"), SHAPES)
def test_shape_and_rule(model: str, name: str, shape: tuple[int, ...], rule: TpRule) -> None:
    tensor = _named(model)[name]
    assert (tensor.shape, tensor.tp) == (shape, rule)


ABSENT = [
    ("gpt2-124m", "output"),
    ("llama3-8b", f"{ATTENTION}wq.bias"),
    ("llama3-8b", "norm.bias"),
    ("phi-2", f"{LAYER}ffn_norm"),
    ("phi-2", f"{LAYER}feed_forward.w3"),
    ("bloom-176b", "pos_embeddings"),
    ("deepseek-v2-lite", f"{ATTENTION}wq_a"),
    ("mixtral-8x7b", f"{LAYER}feed_forward.w1"),
]


@pytest.mark.parametrize(("model", "name"), ABSENT)
def test_absent(model: str, name: str) -> None:
    assert name not in _named(model)


LAYERS = [
    ("deepseek-v3", f"{LAYER}feed_forward.w1", range(3)),
    ("deepseek-v3", f"{LAYER}experts.{{expert}}.w1", range(3, 61)),
    ("kimi-k2", f"{LAYER}shared_experts.{{expert}}.w1", range(1, 61)),
    ("llama4-maverick", f"{LAYER}feed_forward.w1", range(0, 48, 2)),
    ("llama4-maverick", f"{LAYER}experts.{{expert}}.w1", range(1, 48, 2)),
    ("llama4-scout", f"{LAYER}experts.{{expert}}.w1", range(48)),
]


@pytest.mark.parametrize(("model", "name", "layers"), LAYERS)
def test_layers(model: str, name: str, layers: range) -> None:
    assert _named(model)[name].layers == layers


@pytest.mark.parametrize(
    ("first", "every", "dense"),
    [
        (0, 1, []),
        (3, 1, [0, 1, 2]),
        (0, 2, [0, 2, 4, 6, 8]),
        (0, 3, [0, 1, 3, 4, 6, 7, 9]),
        (2, 3, [0, 1, 2, 3, 5, 6, 8, 9]),
    ],
)
def test_dense_layers_are_those_without_experts(first: int, every: int, dense: list[int]) -> None:
    arch = Arch(10, 8, 2, 2, 4, 16, 32, moe=Moe(4, 1, 16, every=every, first_dense=first))
    assert sorted(layer for layers in dense_layers(arch) for layer in layers) == dense
    experts = next(tensor for tensor in tensors(arch) if tensor.role is Role.EXPERT)
    assert experts.layers is not None
    assert sorted([*experts.layers, *dense]) == list(range(10))


def test_active_counts_topk_of_the_experts() -> None:
    arch = load_model("mixtral-8x7b").arch
    assert arch.moe is not None
    routed = sum(tensor.total for tensor in tensors(arch) if tensor.is_expert)
    count = count_parameters(arch)
    assert count.total - count.active == routed * 6 // 8
    every = count_parameters(replace(arch, moe=replace(arch.moe, topk=8)))
    assert every.active == every.total == count.total


def test_order_is_a_modules_order() -> None:
    names = [tensor.name.rpartition("}.")[2] for tensor in tensors(load_model("llama3-8b").arch)]
    assert names == [
        "tok_embeddings", "attention_norm", "attention.wq", "attention.wk", "attention.wv", "attention.wo",
        "ffn_norm", "feed_forward.w1", "feed_forward.w3", "feed_forward.w2", "norm", "output",
    ]  # fmt: skip
