"""What the lists to choose from hold: commands, themes, shipped scenarios, models."""

from __future__ import annotations

import os
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

from scaletui.actions import actions_of
from scaletui.state.picking import Item
from scaletui.text.language import tr
from scaletui.text.printable import printable
from scaletui.view.footer import key_name
from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.scenarios import scenario_ids
from scaletui_engine.tensors import count_parameters
from scaletui_themes import load_palette, theme_ids

if TYPE_CHECKING:
    from scaletui.text.numbers import Numbers


def command_items(mode: str) -> tuple[Item, ...]:
    """Everything that can be done in a mode: its actions, the themes, the shipped scenarios."""
    return (
        *(
            Item(f"action:{action.id}", tr(action.tooltip), key_name(action.keys[0]))
            for action in actions_of(mode)
            if action.id != "command_palette"
        ),
        *(Item(f"theme:{name}", tr("theme {name}", name=load_palette(name).title)) for name in theme_ids()),
        *(Item(f"scenario:{name}", tr("scenario {name}", name=name)) for name in scenario_ids()),
    )


def scenario_items(folder: Path) -> tuple[Item, ...]:
    """The scenario files of a folder, then the shipped scenarios."""
    return (
        *(Item(path, printable(Path(path).name), tr("a file here")) for path in _scenario_files(folder)),
        *(Item(name, name, tr("shipped")) for name in scenario_ids()),
    )


def _scenario_files(folder: Path) -> list[str]:
    """Files that may be read without waiting: no pipe, no device; none where the folder is gone."""
    try:
        with os.scandir(folder) as found:
            files = [entry.path for entry in found if entry.name.endswith(".toml") and isfile(entry.path)]
    except OSError:
        return []
    return sorted(path for path in files if Path(path).name != "pyproject.toml")


def model_items(numbers: Numbers) -> tuple[Item, ...]:
    """Every model of the catalogue with its parameters and family."""
    return tuple(_model_item(name, numbers) for name in model_ids())


def _model_item(name: str, numbers: Numbers) -> Item:
    model = load_model(name)
    count = count_parameters(model.arch)
    total, active = numbers.count(count.total), tr("{count} active", count=numbers.count(count.active))
    size = total if count.active == count.total else f"{total} ({active})"
    return Item(name, name, f"{size}  {model.family}")
