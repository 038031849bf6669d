"""What the fields of a scenario are called on the screen."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from scaletui.text.language import N_, tr

_NAMES: Final = MappingProxyType({
    "model": N_("model"), "gpu": N_("gpu"), "gpus": N_("gpus"), "gpus_per_node": N_("gpus a node"),
    "tp": "tp", "cp": "cp", "ep": "ep", "pp": "pp", "dp_replicate": "dp replicate", "dp_shard": "dp shard",
    "strategy": N_("strategy"), "precision": N_("precision"), "optimizer": N_("optimizer"),
    "micro_batch": N_("micro-batch"), "global_batch": N_("global batch"), "seq": N_("sequence"),
    "recompute": N_("recompute"), "offload": N_("offload"), "schedule": N_("schedule"),
    "chunks": N_("chunks"), "layer_split": N_("layer split"),
    "reshard_after_forward": N_("reshard"), "sequence_parallel": N_("seq parallel"),
})  # fmt: skip
"""Axes keep their short names in every language."""


def field_name(field: str) -> str:
    """The name of a field, at most 12 characters."""
    return tr(_NAMES[field])
