"""The engine's refusals in the language in force: equations stay, the words around them are translated.

The engine writes English sentences with its numbers in them. Here each is a template; a refusal that fits one
is written again from the template's translation, and so are the parts that fit one themselves.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from scaletui.text.language import N_, language, tr
from scaletui.text.refusals_live import LIVE
from scaletui.text.refusals_models import MODELS
from scaletui.text.refusals_schedule import SCHEDULE
from scaletui.text.refusals_sharding import SHARDING
from scaletui_engine.errors import ScenarioError

TEMPLATES: Final = (
    *SCHEDULE,
    *SHARDING,
    *MODELS,
    *LIVE,
    # recordings
    N_("{path} exists already: a recording overwrites nothing"),
    N_("{path} is a link; links are not followed"),
    N_("{path} is not a file"),
    N_("{path}: no recording: its first bytes are not a recording's"),
    N_("{path}: a recording of version {version}, this reader knows {known}"),
    N_("{path}: it holds no whole look: {why}"),
    N_("{path}: it holds no whole look"),
    # names
    N_("unknown {kind} {name}, did you mean {close}?"),
    N_("unknown {kind} {name}, not one of {names}"),
    N_("unknown {kind} {name}"),
    # sizes that an axis does not divide
    N_("{equation} = {result} accumulation steps, not a whole number"),
    N_("{equation} = {result}, not a whole number"),
    N_("{equation} is not a whole number"),
    N_("{product} = {result}, which {degree} does not divide"),
    N_("{product} = {result}, which does not divide the cluster's {gpus} GPUs"),
    N_("{product} does not divide the cluster's {gpus} GPUs"),
    N_("{product} = {result}, but the cluster has {gpus} GPUs"),
    N_("{product}, but the cluster has {gpus} GPUs"),
    N_("kv heads {heads} and tp {tp}: neither divides the other to split or copy evenly"),
    N_("vocabulary {vocab} < tp {tp}: a rank would hold no row"),
    N_("vocabulary {vocab} padded to {padded} (a multiple of {multiple}) / tp {tp} is not a whole number"),
    N_("seq {seq} > {longest}, the longest sequence of {model}"),
    # experts
    N_("ep {ep}, but {model} has no experts"),
    N_("topk {topk} > {experts} experts"),
    N_("{shared} shared experts with shared_ffn 0"),
    N_("first_dense {first} + every {every} > {layers} layers: no layer has experts"),
    # layers, stages, schedules
    N_("{layers} layers / {stages} stages = {result}, not a whole number"),
    N_("{layers} layers < {stages} stages: a stage would be empty"),
    N_("{equation}: a stage would have no layer"),
    N_("layer_split names {count} stages, but pp x chunks = {stages}"),
    N_("layer_split adds up to {sum} layers, but the model has {layers}"),
    N_("layer_split gives stage {stage} {count} layers"),
    N_("pp {pp} x chunks {chunks} = {stages} stages > {layers} layers"),
    N_("chunks {chunks} with pp 1: nothing to interleave"),
    N_("{schedule} needs an even pp, but pp = {pp}"),
    N_("{schedule} needs {what}, but chunks = {chunks}"),
    N_(
        "{schedule} needs {what}, but global batch {batch} / (micro-batch {micro} x dp {dp}) = {count} "
        "microbatches over pp {pp}"
    ),
    N_("microbatches in {rounds} equal rounds (microbatches // pp)"),
    # strategies
    N_("{strategy} with pp {pp}: DeepSpeed's pipeline engine keeps gradients whole"),
    N_("offload params with {strategy}: only sharded weights are gathered from host memory"),
    N_("ddp shards nothing, but dp_shard = {degree}"),
    N_("hsdp needs dp >= 2, but dp_replicate {replicate} x dp_shard {shard} = {dp}"),
    N_("{strategy} shards over all of dp, but dp_replicate = {degree}"),
    # numbers and words that a person typed
    N_("{value} is not on or off"),
    N_("{value} is not a positive number of bytes a second"),
    N_("{value} is not a positive number"),
    N_("{value} is not a finite number"),
    N_("{value} is not 1, 2 or 4"),
    N_("{value} has the unknown unit {unit}: wanted {wanted}"),
    N_("{value} is not a whole number: wanted {wanted}"),
    N_("{value} is negative: wanted {wanted}"),
    N_("{value} is too long: wanted {wanted}"),
    N_("{value} holds half a character, which no file can keep"),
    # scenario files
    N_("{key} with fields beside it: to vary that model, write {like}"),
    N_("{key} is missing: wanted a model of the catalogue, or the fields of one"),
    N_("{key} is missing: wanted a GPU's id or a table"),
    N_("{key} is missing: wanted {wanted}"),
    N_("{key} is missing"),
    N_("{value} is not a GPU's id or a table"),
    N_("{value} is not a table"),
    N_("{value} is not a text"),
    N_("{value} is not {wanted}"),
    N_("not TOML: nested too deeply"),
    N_("not TOML: a number of more than 4300 digits"),
    N_("a number of over 2,000 digits"),
    N_("not TOML: {why}"),
    # what is wanted
    N_("one of {choices}"),
    N_("a whole number"),
    N_("a whole number like 8192 or 8k"),
    N_("a size like 80GiB or 80GB"),
    N_("a list of layers like 7,8,8,7"),
    N_("a list of whole numbers"),
    N_("a number"),
    N_("a text"),
    N_("a table"),
    N_("true or false"),
    N_("{one}, or {other}"),
    # kinds of names
    N_("kind"),
    N_("model"),
    N_("gpu"),
    N_("scenario"),
    N_("schedule"),
    N_("optimizer"),
    N_("precision"),
    N_("strategy"),
    N_("recompute"),
    N_("theme"),
    N_("key"),
    N_("field"),
    N_("command"),
    N_("recompute module"),
    N_("block"),
    N_("frozen role or tensor"),
    N_("lora target"),
)

_PLACE: Final = re.compile(r"\{(\w+)\}")


def refusal(error: ValueError) -> str:
    """What the error says, on one line, in the language in force."""
    if language() == "en":
        return str(error)
    if isinstance(error, ScenarioError) and error.nearest is not None:
        equation, nearest = translated(error.equation), translated(error.nearest)
        return tr("{equation}; nearest valid: {nearest}", equation=equation, nearest=nearest)
    return translated(str(error))


def translated(text: str) -> str:
    """The text written from the translation of the template it fits; the text itself where it fits none."""
    for pattern, template in _patterns():
        if match := pattern.fullmatch(text):
            parts = {name: translated(part) for name, part in match.groupdict().items()}
            return tr(template, **parts)
    return text


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Templates with the most words of their own first, so that the narrower of two that fit is taken."""
    ordered = sorted(TEMPLATES, key=lambda template: -len(_PLACE.sub("", template)))
    return tuple((_pattern(template), template) for template in ordered)


def _pattern(template: str) -> re.Pattern[str]:
    parts = _PLACE.split(template)
    written = (f"(?P<{part}>.+?)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.compile("".join(written), re.DOTALL)
