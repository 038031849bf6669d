"""Names that people and scripts rely on."""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points

import pytest

import scaletui
import scaletui_engine
import scaletui_themes
from scaletui import commands
from scaletui_engine import lesson

ENTRIES = (
    ("scaletui_engine.catalog", ("load_model", "model_ids", "load_gpu", "gpu_ids")),
    ("scaletui_engine.tensors", ("tensors", "count_parameters")),
    ("scaletui_engine.precisions", ("precision",)),
    ("scaletui_engine.optimizers", ("optimizer",)),
    ("scaletui_engine.validate", ("validate",)),
    ("scaletui_engine.scenario_file", ("load", "dump")),
    ("scaletui_engine.memory", ("evaluate",)),
    ("scaletui_engine.stages", ("stage_layers",)),
    ("scaletui.cli", ("main",)),
)

SCRIPTS = ("__main__", "train", "launcher", "llama")
"""Modules that are run and never imported, and the one that needs PyTorch."""


@pytest.mark.parametrize(("module", "names"), ENTRIES, ids=[module for module, _ in ENTRIES])
def test_entry_points_exist(module: str, names: tuple[str, ...]) -> None:
    found = importlib.import_module(module)
    assert all(callable(getattr(found, name)) for name in names)


def test_the_lessons_names() -> None:
    assert lesson.__all__ == [
        "memory_calculator",
        "mixed_precision_comparison",
        "simulate_data_parallelism",
        "simulate_pipeline_parallelism",
        "simulate_tensor_parallelism",
    ]


@pytest.mark.parametrize(
    "package", [scaletui_engine, scaletui_themes, scaletui], ids=lambda package: package.__name__
)
def test_exports_resolve(package: object) -> None:
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
        if module.name.rpartition(".")[2] not in SCRIPTS
    ]
    missing = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in getattr(module, "__all__", ())
        if not hasattr(module, name)
    ]
    assert modules
    assert missing == []


@pytest.mark.parametrize("name", commands.MODULES)
def test_commands_offer_what_the_command_line_calls(name: str) -> None:
    command = commands.load(name)
    assert command.HELP
    assert command.HELP[0].islower()
    assert callable(command.add_arguments)
    assert callable(command.run)


def test_the_console_script() -> None:
    scripts = {script.name: script.value for script in entry_points(group="console_scripts")}
    assert scripts["scaletui"] == "scaletui.cli:main"
