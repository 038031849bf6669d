"""The models of `models.json`: architectures only; parameter counts are summed from the tensors."""

from __future__ import annotations

from functools import cache
from typing import Any

from scaletui_engine.catalog.names import Names, normal, read_data
from scaletui_engine.fields import read
from scaletui_engine.model import Arch, Model

_ALIASES = {
    "gpt2": "gpt2-124m", "gpt2-small": "gpt2-124m", "gpt2-medium": "gpt2-medium-350m",
    "gpt2-large": "gpt2-large-774m", "gpt2-xl": "gpt2-xl-1558m", "gpt3": "gpt3-175b", "bloom": "bloom-176b",
    "llama-2-7b": "llama2-7b", "llama-2-13b": "llama2-13b", "llama-2-70b": "llama2-70b",
    "llama-3-8b": "llama3-8b", "llama-3-70b": "llama3-70b", "llama3-405b": "llama3.1-405b",
    "llama-3-405b": "llama3.1-405b", "llama-3.1-8b": "llama3.1-8b", "llama-3.1-70b": "llama3.1-70b",
    "llama-3.1-405b": "llama3.1-405b", "llama-3.2-1b": "llama3.2-1b", "llama-3.2-3b": "llama3.2-3b",
    "llama4-scout": "llama4-scout-17b-16e", "llama4-maverick": "llama4-maverick-17b-128e",
    "mistral": "mistral-7b", "mixtral": "mixtral-8x7b", "deepseek-v2": "deepseek-v2-236b",
    "deepseek-v2-lite": "deepseek-v2-lite-16b", "deepseek-v3": "deepseek-v3-671b",
    "deepseek-r1": "deepseek-v3-671b", "kimi-k2": "kimi-k2-1t", "phi2": "phi-2", "phi-4": "phi-4-14b",
    "tinyllama": "tinyllama-1.1b",
}  # fmt: skip


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in read_data("models.json")}


@cache
def _names() -> Names:
    return Names("model", tuple(_entries()), {normal(alias): key for alias, key in _ALIASES.items()})


def model_ids() -> tuple[str, ...]:
    """Ids of the catalogue, in its order."""
    return _names().ids


def load_model(name: str) -> Model:
    """The model of that id or alias ("llama3-8b", "DeepSeek V3"). Raises UnknownNameError."""
    return _load(_names().find(name))


@cache
def _load(key: str) -> Model:
    entry = _entries()[key]
    return Model(
        id=key,
        family=entry["family"],
        arch=read(Arch, entry["arch"], key),
        max_seq=entry["max_seq"],
        source=entry["source"],
        note=entry.get("note"),
    )
