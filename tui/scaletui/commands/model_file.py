"""The model that --model, or a scenario's `config`, names: an id of the catalogue, or a file of one's own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.commands.scenario_file import read_text
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ScenarioError, UnknownNameError

if TYPE_CHECKING:
    from scaletui_engine.model import Model

_CONFIG: Final = "config.json"
_UNNAMED: Final = "own"


def model_of(word: str) -> Model | str:
    """The model of a file or of a folder with a config.json; else the id that the word means.

    A name of the catalogue stays one where a folder has it too: "./gpt2" is the folder.
    Raises UnknownNameError, UsageError in one line that names the file, OSError when it cannot be read.
    """
    from scaletui_engine.edit import parse_value

    if _looks_like_file(word):
        return read_model_file(word)
    try:
        return str(parse_value("model", word))
    except UnknownNameError:
        if not os.path.exists(word):
            raise
    return read_model_file(word)


def read_model_file(name: str) -> Model:
    """The model of a TOML file, of a Hugging Face config.json, or of a folder that holds one.

    Raises UsageError in one line that names the file, OSError when it cannot be read.
    """
    from scaletui_engine.hf_config import load_config_text
    from scaletui_engine.scenario_file import load_model_text

    path = _whole_path(name)
    called = _called(Path(path).absolute())
    try:
        text = read_text(path, tr("larger than 1 MiB: no model file"))
        if not path.endswith(".toml"):
            return load_config_text(text, called)
        model = load_model_text(text)
    except ScenarioError as error:
        raise UsageError(f"{path}: {refusal(error)}") from error
    return replace(model, id=called) if model.id == _UNNAMED else model


def _looks_like_file(word: str) -> bool:
    return word.endswith((".json", ".toml")) or word.startswith((".", "~", os.sep))


def _whole_path(name: str) -> str:
    if "\0" in name:
        raise UsageError(tr("{name} is no name of a file", name=repr(name)))
    path = os.path.expanduser(name)
    return os.path.join(path, _CONFIG) if os.path.isdir(path) else path


def _called(path: Path) -> str:
    """A name for what has none inside: the file's, its folder's, or its repository's in a hub's cache."""
    if path.name != _CONFIG:
        return path.stem
    if path.parent.parent.name == "snapshots":
        return path.parent.parent.parent.name.rpartition("--")[2]
    return path.parent.name
