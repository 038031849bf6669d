"""Scenario files: exact round trips, and one line for everything that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from scenario_strategies import own_scenarios, scenarios

from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.compat import tomllib
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.errors import ScenarioError
from scaletui_engine.plan import Axes, Split
from scaletui_engine.scenario_file import dump, load, load_model_text
from scaletui_engine.validate import problem

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

MODEL = '[model]\nid = "llama3-8b"\n'
CLUSTER = '[cluster]\ngpu = "h100"\ngpus = 8\n'
OWN_ARCH = "layers = 4\nhidden = 64\nkv_heads = 2\nhead_dim = 16\nffn = 128\nvocab = 1000\n"


@settings(max_examples=60, deadline=None)
@given(scenarios())
def test_any_valid_scenario_reads_back(scenario: Scenario) -> None:
    assert problem(scenario) is None
    assert load(dump(scenario)) == scenario


@settings(max_examples=60, deadline=None)
@given(own_scenarios())
def test_own_models_gpus_and_switches_read_back(scenario: Scenario) -> None:
    if problem(scenario) is None:
        assert load(dump(scenario)) == scenario
    else:
        with pytest.raises(ScenarioError):
            load(dump(scenario))


@pytest.mark.parametrize("model", model_ids())
def test_every_model_reads_back(model: str) -> None:
    scenario = scenario_from(Choices(model, "h100", 8))
    assert load(dump(scenario)) == scenario


def test_a_file_says_what_its_keys_mean() -> None:
    text = dump(scenario_from(Choices("llama3-8b", "h100", 8)))
    assert text.startswith("# A scaletui scenario")
    assert "micro_batch = 1  # sequences of one microbatch" in text
    assert "runtime" not in text


def test_defaults_fill_what_a_file_leaves_out() -> None:
    assert load(MODEL + CLUSTER) == scenario_from(Choices("llama3-8b", "h100", 8))
    plan = load(MODEL + CLUSTER + "[plan]\ntp = 2\nmicro_batch = 2\n").plan
    assert plan.axes == Axes(tp=2, dp_shard=4)
    assert plan.global_batch == 8


def test_layers_of_every_stage_are_a_list() -> None:
    text = MODEL + CLUSTER + "[plan]\npp = 2\nlayer_split = [15, 17]\n"
    assert load(text).plan.layer_split == (15, 17)
    assert load(text.replace("[15, 17]", '"ends"')).plan.layer_split is Split.ENDS


REFUSED = [
    ("no-toml", "a =", "not TOML: Invalid value (at end of document)"),
    (
        "syntax",
        "[model]\nid 3",
        "not TOML: Expected '=' after a key in a key/value pair (at line 2, column 4)",
    ),
    ("deep", "x = " + "[" * 10_000, "not TOML: nested too deeply"),
    ("empty", "", "[model] is missing"),
    ("section", "[modle]", "unknown key 'modle', did you mean 'model'?"),
    (
        "key",
        MODEL + CLUSTER + "[plan]\nprecison = 1",
        "unknown key 'plan.precison', did you mean 'plan.precision'?",
    ),
    (
        "runtime-key",
        MODEL + CLUSTER + "[plan.runtime]\ncompil = true",
        "unknown key 'plan.runtime.compil', did you mean 'plan.runtime.compile'?",
    ),
    (
        "cluster-key",
        MODEL + CLUSTER + "gpu_per_node = 4",
        "unknown key 'cluster.gpu_per_node', did you mean 'cluster.gpus_per_node'?",
    ),
    (
        "text-for-number",
        MODEL + CLUSTER + '[plan]\nmicro_batch = "2"',
        "plan.micro_batch = '2' is not a whole number",
    ),
    ("fraction", MODEL + CLUSTER + "[plan]\nseq = 4096.0", "plan.seq = 4096.0 is not a whole number"),
    ("boolean", MODEL + "[cluster]\ngpu = 'h100'\ngpus = true", "cluster.gpus = true is not a whole number"),
    ("nan", MODEL + CLUSTER + "[plan]\nseq = nan", "plan.seq = nan is not a whole number"),
    (
        "date",
        MODEL + CLUSTER + "[plan]\ntp = 2024-01-01",
        "plan.tp = 2024-01-01 is not a whole number",
    ),
    (
        "forty-digits",
        MODEL + CLUSTER + f"[plan]\nmicro_batch = {'9' * 40}",
        "micro_batch = 99999999999999999999... > 1048576; nearest valid: micro_batch 1048576",
    ),
    (
        "5000-digits",
        MODEL + CLUSTER + f"[plan]\nseq = {'9' * 5000}",
        "not TOML: a number of more than 4300 digits",
    ),
    (
        "hexadecimal",
        MODEL + CLUSTER + f"[plan]\nseq = 0x{'F' * 5000}",
        "seq = a number of over 2,000 digits > 4294967296; nearest valid: seq 4294967296",
    ),
    (
        "long-text",
        MODEL + CLUSTER + f"[plan]\nseq = '{'x' * 500}'",
        f"plan.seq = '{'x' * 20}...' is not a whole number",
    ),
    (
        "strategy",
        MODEL + CLUSTER + '[plan]\nstrategy = "fspd"',
        "plan.strategy = 'fspd' is not one of ddp, zero1, zero2, zero3, fsdp1, fsdp, hsdp; "
        "nearest valid: 'fsdp'",
    ),
    (
        "split",
        MODEL + CLUSTER + '[plan]\nlayer_split = ["a"]',
        "plan.layer_split[0] = 'a' is not a whole number",
    ),
    ("no-gpu", MODEL + "[cluster]\ngpus = 8", "cluster.gpu is missing: wanted a GPU's id or a table"),
    ("no-gpus", MODEL + "[cluster]\ngpu = 'h100'", "cluster.gpus is missing: wanted a whole number"),
    ("gpu", MODEL + "[cluster]\ngpu = 'h10'\ngpus = 8", "unknown GPU 'h10', did you mean 'h100-sxm'?"),
    (
        "host",
        MODEL + CLUSTER + "host_memory = '2 elephants'",
        "cluster.host_memory = '2 elephants' has the unknown unit 'elephants': "
        "wanted a size like 80GiB or 80GB",
    ),
    (
        "negative-host",
        MODEL + CLUSTER + "host_memory = '-1GiB'",
        "cluster.host_memory = '-1GiB' is negative: wanted a size like 80GiB or 80GB",
    ),
    ("nameless-key", MODEL + CLUSTER + "[plan]\n'' = 1", "unknown key 'plan.'"),
    ("strange-key", MODEL + CLUSTER + "[plan]\n'\u00e9' = 1", "unknown key 'plan.\u00e9'"),
    (
        "varied-by-id",
        MODEL + "layers = 4\n" + CLUSTER,
        "model.id = 'llama3-8b' with fields beside it: to vary that model, write like = 'llama3-8b'",
    ),
    (
        "longest",
        MODEL + "max_seq = 0\n" + CLUSTER,
        "model.max_seq = 0 < 1; nearest valid: model.max_seq 1",
    ),
    (
        "digits",
        MODEL + CLUSTER + "[plan]\ntp = " + "9" * 4000,
        "tp a number of over 2,000 digits does not divide the cluster's 8 GPUs; nearest valid: tp 8",
    ),
    ("table", "model = 3", "model = 3 is not a table"),
    ("name", "name = 3\n" + MODEL + CLUSTER, "name = 3 is not a text"),
    (
        "invalid",
        MODEL + CLUSTER + "[plan]\ntp = 3",
        "tp 3 does not divide the cluster's 8 GPUs; nearest valid: tp 2",
    ),
]


@pytest.mark.parametrize(("text", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        load(text)
    assert str(refusal.value) == words
    assert "\n" not in str(refusal.value)


MODELS = [
    ("no-heads", OWN_ARCH, "model.heads is missing: wanted a whole number"),
    ("bad-type", OWN_ARCH + "heads = 'four'", "model.heads = 'four' is not a whole number"),
    ("unknown", OWN_ARCH + "heads = 4\nhead = 3", "unknown key 'model.head', did you mean 'model.heads'?"),
    ("uneven", OWN_ARCH + "heads = 5", "model.heads 5 / kv_heads 2 is not a whole number"),
    ("zero", OWN_ARCH + "heads = 0", "model.heads = 0 < 1; nearest valid: model.heads 1"),
    (
        "norm",
        OWN_ARCH + "heads = 4\nnorm = 'rms'",
        "model.norm = 'rms' is not one of rmsnorm, layernorm; nearest valid: 'rmsnorm'",
    ),
    (
        "moe",
        OWN_ARCH + "heads = 4\n[moe]\nexperts = 4\nffn = 8",
        "model.moe.topk is missing: wanted a whole number",
    ),
    (
        "topk",
        OWN_ARCH + "heads = 4\n[moe]\nexperts = 4\nffn = 8\ntopk = 5",
        "topk 5 > 4 experts; nearest valid: topk 4",
    ),
    ("infinite", OWN_ARCH + "heads = 4\nrope_theta = inf", "model.rope_theta = inf is not a finite number"),
    ("nothing", "max_seq = 5", "model.id is missing: wanted a model of the catalogue, or the fields of one"),
    ("like", 'like = "llama3-9b"', "unknown model 'llama3-9b', did you mean 'llama3-8b'?"),
]


@pytest.mark.parametrize(("text", "words"), [row[1:] for row in MODELS], ids=[row[0] for row in MODELS])
def test_models_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        load_model_text(text)
    assert str(refusal.value) == words


def test_a_model_field_by_field() -> None:
    model = load_model_text("[model]\n" + OWN_ARCH + 'heads = 4\nid = "mine"\nmax_seq = 512\n')
    assert (model.id, model.arch.heads, model.max_seq, model.source) == ("mine", 4, 512, "given in the file")


def test_a_model_like_another() -> None:
    model = load_model_text('like = "llama3-8b"\nlayers = 16\n')
    base = load_model("llama3-8b")
    assert (model.arch.layers, model.arch.hidden, model.max_seq) == (16, base.arch.hidden, base.max_seq)
    assert model.id == "llama3-8b-varied"


def test_a_longer_sequence_for_a_model_of_the_catalogue() -> None:
    text = '[model]\nid = "llama3.1-8b"\nmax_seq = 262144\n' + CLUSTER + "[plan]\ncp = 8\nseq = 262144\n"
    assert load(text).plan.seq == 262144


def test_a_written_file_is_toml_of_four_sections() -> None:
    document = tomllib.loads(dump(scenario_from(Choices("mixtral-8x7b", "h100", 8, ep=8))))
    assert list(document) == ["model", "cluster", "plan"]
    assert document["plan"]["ep"] == 8
