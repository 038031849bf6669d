"""Reading the free-form fields of a published record; what cannot be read is named."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

Config = dict[str, Any]
UNITS = {"b": 1, "bytes": 1, "mb": 10**6, "gb": 10**9, "tb": 10**12, "mib": 2**20, "gib": 2**30, "tib": 2**40}
SPELLINGS = {
    "num_layers": "layers", "num_hidden_layers": "layers", "hidden_size": "hidden", "num_heads": "heads",
    "num_attention_heads": "heads", "num_kv_heads": "kv_heads", "num_key_value_heads": "kv_heads",
    "intermediate_size": "ffn", "ffn_hidden_size": "ffn", "vocab_size": "vocab", "num_experts": "experts",
    "top_k": "topk", "micro_batch_size": "micro_batch", "global_batch_size": "global_batch",
    "gbs": "global_batch", "sequence_length": "seq_len", "seq_length": "seq_len", "max_seq_len": "seq_len",
    "tensor_parallel": "tp", "pipeline_parallel": "pp", "context_parallel": "cp", "expert_parallel": "ep",
    "data_parallel": "dp", "activation_checkpointing": "ac",
    "use_distributed_optimizer": "distributed_optimizer",
}  # fmt: skip
"""Field names of Hugging Face's and Megatron's own configurations, and ours."""


class MissingFieldError(Exception):
    """A record that the engine cannot express: the message names the field."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a memory file."""

    id: str
    source: str
    kind: str
    config: Config
    expected: float | None
    unit: str
    quantity: str
    quality: str
    notes: str

    @property
    def text(self) -> str:
        """Where a row came from and what it is called, in lower case."""
        return f"{self.id} {self.source}".lower()

    @property
    def resolution(self) -> float:
        """One unit of the last decimal that the value is printed with."""
        decimals = len(str(self.expected).partition(".")[2])
        return 10.0**-decimals

    @property
    def unit_bytes(self) -> int:
        """Bytes of the value's unit. Raises MissingFieldError for one that is none of memory."""
        found = UNITS.get(self.unit.lower())
        if found is None:
            raise MissingFieldError(f"missing field unit ({self.unit!r} is no unit of memory)")
        return found


def record_of(row: Any) -> Record:
    """A record from a row of the file; absent texts are empty, and what is no number is no value.

    A row that is no object is a record without any field.
    """
    row = row if isinstance(row, dict) else {}
    config, value = row.get("config"), row.get("measured_gb")
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return Record(
        id=str(row.get("id", "?")),
        source=str(row.get("source", "")),
        kind=str(row.get("kind", "measured")),
        config=_spelled(config) if isinstance(config, dict) else {},
        expected=float(value) if number else None,
        unit=str(row.get("unit", "GiB")),
        quantity=str(row.get("quantity", "")),
        quality=str(row.get("quality", "C")),
        notes=str(row.get("notes") or ""),
    )


def _spelled(config: Config) -> Config:
    """The fields under our names; a field that is there already keeps its value."""
    return {**{SPELLINGS.get(name, name): value for name, value in config.items()}, **config}


def whole(config: Config, *names: str) -> int | None:
    """The first of `names` that holds a whole number, or text like "2048 (inferred)" or "8k"."""
    for name in names:
        value = config.get(name)
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, (int, float)) and float(value).is_integer():
            return int(value)
        match = re.match(r"\s*(\d{1,3}(?:,\d{3})+|\d+)(k?)\b(?!\.\d)", str(value).lower(), re.ASCII)
        if match:
            return int(match[1].replace(",", "")) * (1024 if match[2] else 1)
    return None


def need(config: Config, *names: str) -> int:
    """The same, or MissingFieldError."""
    found = whole(config, *names)
    if found is None:
        raise MissingFieldError(f"missing field {names[0]}")
    return found


def number(config: Config, name: str, default: float) -> float:
    """A number above zero, or the default where the field is absent. Raises MissingFieldError for another."""
    value = config.get(name)
    if value is None or value is False:
        return default
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*x?\s*", str(value), re.ASCII)
    if match is None or float(match[1]) <= 0:
        raise MissingFieldError(f"missing field {name} ({value!r} is no number above zero)")
    return float(match[1])


def degree(config: Config, name: str) -> int:
    """A mesh axis: 1 where the field is absent. Raises MissingFieldError for less."""
    return 1 if whole(config, name) is None else positive(config, name)


def positive(config: Config, *names: str) -> int:
    """`need`, of at least one. Raises MissingFieldError."""
    found = need(config, *names)
    if found < 1:
        raise MissingFieldError(f"missing field {names[0]} ({found} < 1)")
    return found


def text(config: Config, *names: str) -> str:
    """The first of `names` that holds something, in lower case; empty when none does."""
    for name in names:
        value = config.get(name)
        if value is not None and value is not False:
            return "on" if value is True else str(value).lower()
    return ""


def flag(config: Config, name: str, *, default: bool = False) -> bool:
    """A switch; any text but "off", "no" or "none" counts as on."""
    value = config.get(name)
    if value is None:
        return default
    return value if isinstance(value, bool) else text(config, name) not in ("", "off", "no", "none", "false")
