"""The fields of a scenario that a person edits: where each lives, and what its text means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.errors import ParseError, UnknownNameError, brief
from scaletui_engine.optimizers import optimizer
from scaletui_engine.plan import Offload, Recompute, Split, Strategy
from scaletui_engine.precisions import precision
from scaletui_engine.schedule.interchange.megatron_layout import parse_layout
from scaletui_engine.schedule_rules import schedule_rule
from scaletui_engine.units import parse_count

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

Value: TypeAlias = "str | int | bool | Split | tuple[int, ...]"
"""Value of a field: an id, a number, a switch, or how layers are split."""

AXES: Final = ("tp", "cp", "ep", "pp", "dp_replicate", "dp_shard")
FIELDS: Final = (
    "model", "gpu", "gpus", "gpus_per_node", *AXES, "strategy", "precision", "optimizer", "recompute",
    "offload", "reshard_after_forward", "sequence_parallel", "micro_batch", "global_batch", "seq",
    "schedule", "chunks", "layer_split",
)  # fmt: skip
"""Every editable field, in the order in which a screen lists them."""

_NUMBERS: Final = ("gpus", "gpus_per_node", *AXES, "micro_batch", "global_batch", "seq", "chunks")
_SWITCHES: Final = ("reshard_after_forward", "sequence_parallel")
_ENUMS: Final = {"strategy": Strategy, "recompute": Recompute, "offload": Offload}
_TRUE: Final = ("true", "on", "yes", "1")
_FALSE: Final = ("false", "off", "no", "0")


def value_of(scenario: Scenario, field: str) -> Value:
    """What the field holds now. Raises UnknownNameError for a field that does not exist."""
    check_field(field)
    if field == "model":
        return scenario.model.id
    if field == "gpu":
        return scenario.cluster.gpu.id
    holder = scenario.cluster if field in ("gpus", "gpus_per_node") else scenario.plan
    found: Value = getattr(scenario.plan.axes if field in AXES else holder, field)
    return found


def parse_value(field: str, text: str) -> Value:
    """What a person typed into the field. Raises ParseError, UnknownNameError."""
    check_field(field)
    text = text.strip()
    if field in _NUMBERS:
        return parse_count(text)
    if field in _SWITCHES:
        return _switch(field, text)
    if field in _ENUMS:
        return _member(field, text)
    if field == "layer_split":
        return _split(text)
    return _name(field, text)


def check_field(field: str) -> None:
    """Raises UnknownNameError for a field that does not exist."""
    if field not in FIELDS:
        raise UnknownNameError("field", field, FIELDS)


def _switch(field: str, text: str) -> bool:
    if text.lower() in _TRUE + _FALSE:
        return text.lower() in _TRUE
    raise ParseError(f"{field} = {text[:40]!r} is not on or off")


def _member(field: str, text: str) -> str:
    kind = _ENUMS[field]
    if text.lower() not in [member.value for member in kind]:
        raise UnknownNameError(field, text, [str(member.value) for member in kind])
    return kind(text.lower())


def _split(text: str) -> Split | tuple[int, ...]:
    """A rule's name, "7, 8, 8, 7", or Megatron-LM's "Et*7|(t*8|)*2,t*7L"."""
    if "|" in text:
        return parse_layout(text).layers
    parts = text.replace(",", " ").split()
    if parts and all(part.isascii() and part.isdecimal() and len(part) < 8 for part in parts):
        return tuple(int(part) for part in parts)
    if text.lower() not in [member.value for member in Split]:
        if any(letter.isdigit() or letter == "," for letter in text):
            raise ParseError(f"{brief(text)} is not a list of layers like 7,8,8,7")
        raise UnknownNameError("layer_split", text, [member.value for member in Split])
    return Split(text.lower())


def _name(field: str, text: str) -> str:
    if field == "model":
        return load_model(text).id
    if field == "gpu":
        return load_gpu(text).id
    if field == "precision":
        return precision(text).id
    return optimizer(text).id if field == "optimizer" else schedule_rule(text).name
