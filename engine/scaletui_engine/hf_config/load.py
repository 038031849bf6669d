"""A model from the text of a `config.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from scaletui_engine.errors import ParseError, ScenarioError, nearest_name
from scaletui_engine.fields import shown
from scaletui_engine.hf_config.entries import Entries
from scaletui_engine.hf_config.families import family, model_types, sizes_inside
from scaletui_engine.model import Model
from scaletui_engine.validate.numbers import check_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scaletui_engine.hf_config.families import Family

SOURCE: Final = "a Hugging Face config.json"
_NAME: Final = 60
"""Characters of a model's name that a screen keeps."""
_PREDICTED: Final = ("num_nextn_predict_layers", "num_mtp_layers")


def load_config_text(text: str, name: str) -> Model:
    """The model that a Hugging Face configuration describes, called as the file says, else `name`.

    What is left out follows transformers' defaults of that `model_type` (`hf_config.families`); the model's
    note says which sizes did, and what is not counted. Compared with the parameters of modules that
    transformers 5.24.0 builds on the meta device: 40 random configurations of each family (those refused
    aside), as given and as transformers saves them, equal but for the balance biases that are buffers there.
    A file with a `text_config` is read as the text model inside.
    Raises ParseError, ValueRangeError, and ScenarioError for a `model_type` without a rule.
    """
    document = _parse(text)
    values, outer = _text_part(document)
    kind = _model_type(values, outer)
    rules = _family(kind)
    defaults = {**rules.defaults, **sizes_inside(kind)} if outer else rules.defaults
    entries = Entries(values, defaults, rules.spellings)
    longest = entries.whole_or_none("max_position_embeddings")
    note = "; ".join(_notes(entries, kind, outer))
    called = _named(document.get("_name_or_path"), name)
    model = Model(called, kind, rules.rule(entries), longest, SOURCE, note or None)
    check_model(model)
    return model


def _parse(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise ParseError(f"not JSON: {error.msg} (at line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ParseError("not JSON: nested too deeply") from None
    except ValueError:
        # int() reads no more digits (docs.python.org, "Integer string conversion length limitation").
        raise ParseError("not JSON: a number of more than 4300 digits") from None
    if not isinstance(found, dict):
        raise ParseError("no configuration of a model: wanted an object with the keys of a config.json")
    return cast("dict[str, Any]", found)


def _text_part(document: dict[str, Any]) -> tuple[Mapping[str, object], str]:
    """The keys of the text model, and the `model_type` of what it is a part of: empty for a text model.

    Qwen2-VL's files have the text model's keys beside a `vision_config`, not inside a `text_config`.
    """
    inner = document.get("text_config")
    outer = document.get("model_type")
    whole = outer if isinstance(outer, str) and outer.isprintable() else "the whole"
    if not isinstance(inner, dict):
        return document, whole if "vision_config" in document else ""
    values = dict(cast("dict[str, object]", inner))
    if "tie_word_embeddings" in document:
        values.setdefault("tie_word_embeddings", document["tie_word_embeddings"])
    return values, whole


def _model_type(values: Mapping[str, object], outer: str) -> str:
    kind = values.get("model_type", f"{outer}_text" if outer else None)
    if kind is None:
        raise ParseError(f"model_type is missing: wanted one of {', '.join(model_types())}")
    if not isinstance(kind, str):
        raise ParseError(f"model_type = {shown(kind)} is not a text")
    return kind


def _family(kind: str) -> Family:
    found = family(kind)
    if found is None:
        said = f"model_type = {shown(kind)} has no rule here: those with one are {', '.join(model_types())}"
        raise ScenarioError(said, nearest_name(kind, model_types(), alike=0.0))
    return found


def _notes(entries: Entries, kind: str, outer: str) -> Iterator[str]:
    """What a reader must know: sentences without a semicolon."""
    if outer:
        yield f"the text model of {outer[:_NAME]} alone: vision and its like are not counted".replace(
            ";", ","
        )
    if any(entries.values.get(key) for key in _PREDICTED):
        yield "without the multi-token prediction layers"
    if assumed := entries.assumed:
        yield f"left out of the file, so {kind}'s default in transformers: {', '.join(assumed)}"


def _named(said: object, name: str) -> str:
    """The last part of the path or repository that the file names, else `name`, as a line can show it."""
    parts = said.replace("\\", "/").rstrip("/").split("/") if isinstance(said, str) else [""]
    kept = ("".join(c for c in text if c.isprintable()).strip()[:_NAME] for text in (parts[-1], name))
    return next((text for text in kept if text.strip(".")), "own")
