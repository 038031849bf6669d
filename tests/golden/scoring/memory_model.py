"""The architecture a published record speaks of: its own numbers, else a model of the catalogue."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from scoring.memory_fields import Config, MissingFieldError, flag, need, text, whole

from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.errors import UnknownNameError
from scaletui_engine.fields import read
from scaletui_engine.model import Arch, Mla, Moe, Norm, QkNorm

DIMENSIONS = ("layers", "hidden", "heads", "ffn", "vocab")


def arch_of(config: Config) -> Arch:
    """Dimensions of the record, what it leaves out from the catalogue. Raises MissingFieldError."""
    named = named_arch(text(config, "model"))
    if text(config, "attn") == "mla" and (named is None or _spells_latent(config)):
        return _latent(config)
    absent = [name for name in DIMENSIONS if whole(config, name) is None]
    if not absent:
        return _with_record(_dense(config), config, named)
    if named is None:
        raise MissingFieldError(
            f"missing field {absent[0]} (model {config.get('model')!r} is not in the catalogue)"
        )
    layers = whole(config, "layers")
    return named if layers is None else replace(named, layers=layers)


def _spells_latent(config: Config) -> bool:
    names = ("layers", "hidden", "heads", "vocab", "kv_lora_rank", "qk_nope", "qk_rope", "v_head")
    return all(whole(config, name) is not None for name in names) and bool(whole(config, "dense_ffn", "ffn"))


def is_given(config: Config) -> bool:
    """Whether a record spells its model out, or names one whose published configuration is known."""
    if all(whole(config, name) is not None for name in DIMENSIONS):
        return True
    return named_arch(text(config, "model")) is not None


def recipe_of(config: Config) -> dict[str, Any]:
    """What the published recipe of a model sets, where its record says nothing."""
    named = next((name for name in _candidates(text(config, "model")) if name in _PUBLIC), None)
    return {} if named is None else dict(_PUBLIC[named].get("recipe") or {})


def named_arch(name: str) -> Arch | None:
    """The catalogue's model of that name, however it is written; None when there is none."""
    for candidate in _candidates(name):
        if candidate in _PUBLIC:
            return read(Arch, _PUBLIC[candidate]["arch"], candidate)
        try:
            return load_model(candidate).arch
        except UnknownNameError:
            continue
    return None


_PUBLIC = json.loads((Path(__file__).parents[1] / "memory_models.json").read_text("utf-8"))["models"]
_SAME = {
    "deepseek-v3-16b": "deepseek-v2-lite-16b",
    "deepseekv2": "deepseek-v2-236b",
    "deepseekv3": "deepseek-v3-671b",
}


def _candidates(name: str) -> list[str]:
    """Ways to read "Llama-3-8B/3.1-8B", "Moonlight-16B (1 dense ...)", "org/name" and "Llama 3 8B"."""
    plain = re.sub(r"\(.*?\)", "", name).strip()
    tail = plain.rsplit("/", 1)[-1]
    whole_names = [_NAMES[squeezed] for squeezed in (_squeezed(plain), _squeezed(tail)) if squeezed in _NAMES]
    found = [*whole_names, plain, plain.split(" ")[0], plain.split("/")[0], tail, tail.split(" ")[0]]
    return [_SAME.get(candidate, candidate) for candidate in found if candidate]


def _squeezed(name: str) -> str:
    """Letters and digits alone, without the words that only say who made a model or how it was tuned."""
    plain = re.sub(r"^(meta|facebook|huggyllama)[-_ ](?=\w)", "", name.lower())
    while (shorter := re.sub(_TUNED, "", plain)) != plain:
        plain = shorter
    return re.sub(r"[^a-z0-9]", "", plain).replace("qwen25coder", "qwen25")


_TUNED = r"[-_ ](instruct|base|chat|hf|it|pt|python|beta|\d+k|v[01]\.\d)$"
_NAMES = {
    **{_squeezed(name): name for name in (*_PUBLIC, *model_ids())},
    "gpt3175b": "gpt3-175b", "llama3370b": "llama3.1-70b", "llama31nemotron70b": "llama3.1-70b",
    "deepseekv316b": "deepseek-v2-lite-16b", "deepseekv3": "deepseek-v3-671b",
    "qwen205b": "qwen2.5-0.5b", "qwen215b": "qwen2.5-1.5b", "qwen27b": "qwen2.5-7b",
    "qwen272b": "qwen2.5-72b", "vicuna7b": "llama-7b", "vicuna13b": "llama-13b", "zephyr7b": "mistral-7b",
    "phi3mini": "phi-3.5-mini", "phi4": "phi-4-14b", "gpt2": "gpt2-124m", "gpt2xl": "gpt2-xl-1558m",
    "gpt2medium": "gpt2-medium-350m", "gpt2large": "gpt2-large-774m", "bloom7b1": "bloomz-7b1",
    "llama4scout": "llama4-scout-17b-16e", "llama417bx16e": "llama4-scout-17b-16e",
    "llama4maverick": "llama4-maverick-17b-128e", "llama417bx128e": "llama4-maverick-17b-128e",
    "moonlight16ba3b": "moonlight-16b", "megatronturingnlg530b": "megatron-530b",
}  # fmt: skip
"""Names as they are squeezed, and those of the same dimensions under another one."""


def _dense(config: Config) -> Arch:
    hidden, heads = need(config, "hidden"), need(config, "heads")
    return Arch(
        layers=need(config, "layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=whole(config, "kv_heads") or heads,
        head_dim=whole(config, "head_dim") or hidden // heads,
        ffn=need(config, "ffn"),
        vocab=need(config, "vocab"),
        tie=flag(config, "tied"),
        qkv_bias=flag(config, "bias"),
        o_bias=flag(config, "bias"),
        mlp_bias=flag(config, "bias"),
        qk_norm=QkNorm.PER_HEAD if flag(config, "qk_norm") else None,
        moe=_moe(config),
    )


def _with_record(arch: Arch, config: Config, named: Arch | None) -> Arch:
    """What a record says beside the dimensions; a named model adds what records never spell out."""
    if named is not None:
        same = replace(
            named, layers=arch.layers, hidden=arch.hidden, heads=arch.heads, kv_heads=arch.kv_heads,
            head_dim=arch.head_dim, ffn=arch.ffn, vocab=arch.vocab, moe=arch.moe or named.moe,
        )  # fmt: skip
        arch = replace(same, tie=flag(config, "tied", default=same.tie), qk_norm=arch.qk_norm or same.qk_norm)
    if config.get("rmsnorm") is False:
        arch = replace(arch, norm=Norm.LAYERNORM)
    if config.get("swiglu") is False:
        arch = replace(arch, gated=False)
    return arch


def _latent(config: Config) -> Arch:
    heads = need(config, "heads")
    return Arch(
        layers=need(config, "layers"),
        hidden=need(config, "hidden"),
        heads=heads,
        kv_heads=heads,
        head_dim=need(config, "v_head"),
        ffn=need(config, "dense_ffn", "ffn"),
        vocab=need(config, "vocab"),
        tie=flag(config, "tied"),
        moe=_moe(config),
        mla=Mla(
            q_lora_rank=whole(config, "q_lora_rank") or 0,
            kv_lora_rank=need(config, "kv_lora_rank"),
            qk_nope_head_dim=need(config, "qk_nope"),
            qk_rope_head_dim=need(config, "qk_rope"),
            v_head_dim=need(config, "v_head"),
        ),
    )


def _moe(config: Config) -> Moe | None:
    experts = whole(config, "experts")
    if experts is None:
        return None
    shared = whole(config, "shared_ffn") or 0
    return Moe(
        experts=experts,
        topk=need(config, "topk"),
        ffn=need(config, "moe_ffn", "ffn"),
        shared=1 if shared else 0,
        shared_ffn=shared,
        first_dense=whole(config, "dense_layers") or 0,
    )
