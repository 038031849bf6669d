"""Hugging Face configurations: published ones against the catalogue, refusals, and what else files hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaletui_engine.catalog import load_model
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.errors import ScenarioError
from scaletui_engine.hf_config import load_config_text, model_types
from scaletui_engine.model import Norm, QkNorm
from scaletui_engine.scenario_file import dump, load
from scaletui_engine.tensors import count_parameters, tensors

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Model

PUBLISHED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "golden" / "hf_configs.json").read_text("utf-8")
)
SMALL: dict[str, Any] = {
    "hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 4, "vocab_size": 100,
    "intermediate_size": 96, "num_key_value_heads": 2,
}  # fmt: skip


def _model(config: dict[str, Any]) -> Model:
    return load_config_text(json.dumps(config), "mine")


def _arch(kind: str, **keys: Any) -> Arch:
    return _model({"model_type": kind, **SMALL, **keys}).arch


def _named(row: dict[str, Any]) -> str:
    return str(row["id"])


@pytest.mark.parametrize("row", PUBLISHED, ids=_named)
def test_published_configurations_have_the_parameters_of_the_catalogue(row: dict[str, Any]) -> None:
    found, known = _model(row["config"]).arch, load_model(row["id"]).arch
    assert count_parameters(found) == count_parameters(known)
    same = [(t.shape, t.role, t.layers, t.experts) for t in tensors(found)]
    assert same == [(t.shape, t.role, t.layers, t.experts) for t in tensors(known)]


@pytest.mark.parametrize("row", [r for r in PUBLISHED if "gemma" in r["id"] or "oss" in r["id"]], ids=_named)
def test_windows_are_those_of_the_catalogue(row: dict[str, Any]) -> None:
    found, known = _model(row["config"]).arch, load_model(row["id"]).arch
    assert found.sliding_window == known.sliding_window
    assert found.sliding_layers == known.sliding_layers


@pytest.mark.parametrize("kind", model_types())
def test_every_family_reads_back_from_a_scenario_file(kind: str) -> None:
    model = _model({"model_type": kind, **SMALL, "num_experts_per_tok": 2})
    scenario = scenario_from(Choices(model, "h100", 2))
    assert load(dump(scenario)) == scenario


DIFFERENT = [
    ("llama", {"num_key_value_heads": None}, {"kv_heads": 4}),
    ("llama", {"head_dim": 8, "attention_bias": True}, {"head_dim": 8, "qkv_bias": True, "o_bias": True}),
    ("llama", {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}, {"rope_theta": 5e5}),
    ("mistral", {}, {"sliding_window": 4096, "sliding_layers": 6}),
    ("qwen2", {}, {"qkv_bias": True, "o_bias": False, "sliding_window": None}),
    (
        "qwen2",
        {"use_sliding_window": True, "max_window_layers": 4, "sliding_window": 32},
        {"sliding_window": 32, "sliding_layers": 2},
    ),
    ("qwen3", {}, {"head_dim": 128, "qk_norm": QkNorm.PER_HEAD}),
    ("gemma", {}, {"tie": True, "act": "gelu_tanh", "head_dim": 256}),
    (
        "gemma3_text",
        {"layer_types": ["sliding_attention"] * 4 + ["full_attention"] * 2},
        {"sliding_layers": 4},
    ),
    ("gpt_neox", {}, {"norm": Norm.LAYERNORM, "gated": False, "kv_heads": 4, "o_bias": True, "tie": False}),
    ("gpt2", {"n_inner": 7}, {"ffn": 7, "learned_pos": 1024, "kv_heads": 4, "rope_theta": None}),
    ("gpt2", {}, {"ffn": 256, "tie": True}),
    ("falcon", {}, {"kv_heads": 1, "norms_per_layer": 1, "ffn": 256, "mlp_bias": False}),
    ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}, {"kv_heads": 2, "norms_per_layer": 2}),
    ("falcon", {"multi_query": False, "parallel_attn": False}, {"kv_heads": 4, "norms_per_layer": 2}),
    ("glm4", {}, {"norms_per_layer": 4, "qkv_bias": True, "o_bias": False}),
    ("smollm3", {"use_sliding_window": True, "sliding_window": 9}, {"sliding_layers": 1, "nope_every": 4}),
    ("olmoe", {}, {"qk_norm": QkNorm.FULL, "norms_per_layer": 2}),
    ("phi", {}, {"norms_per_layer": 1, "lm_head_bias": True}),
    ("deepseek_v3", {"num_experts_per_tok": 4, "q_lora_rank": None}, {"head_dim": 192, "kv_heads": 4}),
]


@pytest.mark.parametrize(("kind", "keys", "expected"), DIFFERENT)
def test_what_a_family_takes(kind: str, keys: dict[str, Any], expected: dict[str, Any]) -> None:
    arch = _arch(kind, **keys)
    assert {name: getattr(arch, name) for name in expected} == expected


def test_the_gate_of_a_shared_expert_is_a_parameter() -> None:
    arch = _arch("qwen2_moe", num_experts=4, num_experts_per_tok=2, decoder_sparse_step=2)
    assert arch.moe is not None
    gateless = replace(arch, moe=replace(arch.moe, shared_gate=False))
    assert count_parameters(arch).total - count_parameters(gateless).total == 3 * 64
    assert count_parameters(arch).active - count_parameters(gateless).active == 3 * 64


def test_dense_layers_in_front_and_all_of_them() -> None:
    moe = _arch("qwen3_moe", mlp_only_layers=[0, 1]).moe
    assert moe is not None
    assert moe.first_dense == 2
    assert _arch("qwen3_moe", mlp_only_layers=list(range(6))).moe is None
    assert _arch("deepseek_v3", first_k_dense_replace=9).moe is None


def test_a_text_model_inside_a_larger_one() -> None:
    inner = {
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
    }
    model = _model({"model_type": "gemma3", "text_config": inner, "vision_config": {}})
    assert model.note == (
        "the text model of gemma3 alone: vision and its like are not counted; left out of the file, so "
        "gemma3_text's default in transformers: num_key_value_heads 4, head_dim 256, num_attention_heads 8, "
        "vocab_size 262208"
    )
    beside = _model({"model_type": "qwen2_5_vl", **SMALL, "vision_config": {}})
    assert beside.note == "the text model of qwen2_5_vl alone: vision and its like are not counted"
    tied = _model(
        {"model_type": "llava", "tie_word_embeddings": True, "text_config": {"model_type": "llama"}}
    )
    assert tied.arch.tie
    with pytest.raises(ScenarioError, match="num_attention_heads is missing"):
        _model({**inner, "vocab_size": 100})


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (None, "mine"), ("", "mine"), ("meta-llama/Llama-3.1-8B", "Llama-3.1-8B"), ("/ckpt/run 7/", "run 7"),
        ("a\nb\ud800", "ab"), ("..", "mine"), (7, "mine"), ("x" * 99, "x" * 60),
    ],
)  # fmt: skip
def test_a_model_is_called_as_the_file_says(said: object, name: str) -> None:
    assert _model({"model_type": "llama", **SMALL, "_name_or_path": said}).id == name


def _without(key: str) -> dict[str, Any]:
    return {"model_type": "llama", **{name: value for name, value in SMALL.items() if name != key}}


REFUSED = [
    ("", "not JSON: Expecting value (at line 1, column 1)"),
    ('{"a": }', "not JSON: Expecting value (at line 1, column 7)"),
    ("[" * 100_000, "not JSON: nested too deeply"),
    ('{"a": ' + "1" * 5000 + "}", "not JSON: a number of more than 4300 digits"),
    ("[1]", "no configuration of a model: wanted an object with the keys of a config.json"),
    ('{"model_type": 3}', "model_type = 3 is not a text"),
    (_without("num_attention_heads"), "num_attention_heads is missing: wanted a whole number"),
    (_without("vocab_size"), "vocab_size is missing: wanted a whole number"),
    ({"model_type": "gpt2", "n_embd": 8}, "n_layer is missing: wanted a whole number"),
    ({"hidden_size": None}, "hidden_size is null: wanted a whole number"),
    ({"hidden_size": -64}, "hidden_size = -64 < 1; nearest valid: hidden_size 1"),
    ({"hidden_size": float("nan")}, "hidden_size = nan is not a whole number"),
    ({"hidden_size": "big"}, "hidden_size = 'big' is not a whole number"),
    ({"hidden_size": 64.0}, "hidden_size = 64.0 is not a whole number"),
    ({"hidden_size": True}, "hidden_size = true is not a whole number"),
    ({"num_hidden_layers": 10**30}, "num_hidden_layers = 10000000000000000000... > 10000"),
    ({"num_attention_heads": 5}, "num_attention_heads 5 / num_key_value_heads 2 is not a whole number"),
    ({"hidden_size": 66}, "hidden_size 66 / num_attention_heads 4 is not a whole number"),
    ({"intermediate_size": None}, "intermediate_size is null: wanted a whole number"),
    ({"tie_word_embeddings": "no"}, "tie_word_embeddings = 'no' is not true or false"),
    ({"rope_theta": -1}, "rope_theta = -1 is not a positive number"),
    ({"hidden_act": None}, "hidden_act is null: wanted a text"),
    ({"hidden_act": "a\nb"}, "hidden_act = 'a\\nb' is not a name"),
    (
        {"model_type": "mixtral", "num_experts_per_tok": 9},
        "num_experts_per_tok = 9 > num_local_experts = 8",
    ),
    (
        {"model_type": "qwen3", "layer_types": ["linear_attention"]},
        "layer_types holds 'linear_attention', a kind of layer without a rule here",
    ),
    (
        {"model_type": "gemma2", "layer_types": ["full_attention"]},
        "layer_types names 1 layers, but num_hidden_layers = 6",
    ),
    ({"model_type": "gemma2", "layer_types": 3}, "layer_types = 3 is not a list of texts"),
    (
        {"model_type": "qwen3_moe", "mlp_only_layers": [3]},
        "mlp_only_layers = [3]: dense layers have a rule only in front of the others",
    ),
    (
        {"model_type": "deepseek_v3", "n_group": 7},
        "n_routed_experts 256 / n_group 7 is not a whole number",
    ),
    (
        {"model_type": "deepseek_v3", "attention_bias": True},
        "attention_bias = true: biases of the latents have no rule here",
    ),
]


@pytest.mark.parametrize(("given_as", "line"), REFUSED)
def test_refusals_name_the_key(given_as: str | dict[str, Any], line: str) -> None:
    text = given_as if isinstance(given_as, str) else json.dumps(_filled(given_as))
    with pytest.raises(ScenarioError) as refused:
        load_config_text(text, "mine")
    assert str(refused.value).startswith(line)


def _filled(keys: dict[str, Any]) -> dict[str, Any]:
    whole = any(key in keys for key in ("num_hidden_layers", "n_embd")) and "model_type" in keys
    return keys if whole else {"model_type": "llama", **SMALL, **keys}


def test_an_unknown_type_names_the_nearest_and_all() -> None:
    with pytest.raises(ScenarioError) as refused:
        _model({"model_type": "lama", **SMALL})
    assert str(refused.value).startswith(
        "model_type = 'lama' has no rule here: those with one are deepseek_v2,"
    )
    assert refused.value.nearest == "llama"
    assert all(kind in str(refused.value) for kind in model_types())
    with pytest.raises(ScenarioError, match="model_type is missing: wanted one of deepseek_v2"):
        _model(SMALL)


ODD = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.integers(-3, 70_000)
    | st.floats()
    | st.text(max_size=8)
    | st.lists(st.integers(-2, 9) | st.text(max_size=3), max_size=4)
    | st.dictionaries(st.text(max_size=4), st.integers(), max_size=2)
)


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A published configuration with a few keys of any family changed or taken away."""
    config = dict(draw(st.sampled_from(PUBLISHED))["config"])
    keys = sorted({key for row in PUBLISHED for key in row["config"]})
    for key in draw(st.lists(st.sampled_from(keys), max_size=4)):
        if draw(st.booleans()):
            config[key] = draw(ODD)
        else:
            config.pop(key, None)
    if draw(st.booleans()):
        config["model_type"] = draw(st.sampled_from(model_types()))
    return config


def _read(text: str) -> Model | str:
    """The model, or the line that refuses the text."""
    try:
        return load_config_text(text, "mine")
    except ScenarioError as error:
        return str(error)


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_a_changed_configuration_is_a_model_or_a_refusal_of_one_line(config: dict[str, Any]) -> None:
    model = _read(json.dumps(config))
    if isinstance(model, str):
        assert model.isprintable()
        return
    assert 0 < count_parameters(model.arch).active <= count_parameters(model.arch).total
    scenario = scenario_from(Choices(model, "h100", 1))
    assert load(dump(scenario)) == scenario


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PUBLISHED), st.integers(1, 400))
def test_a_torn_file_is_no_json(row: dict[str, Any], lost: int) -> None:
    line = _read(json.dumps(row["config"])[:-lost])
    assert isinstance(line, str)
    assert line.startswith("not JSON: ")
