"""Loading a shipped scenario by the name of its file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog.names import Names, normal
from scaletui_engine.scenario_file import load

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

_SUFFIX: Final = ".toml"


@cache
def scenario_ids() -> tuple[str, ...]:
    """Names of the shipped scenarios, in alphabetical order."""
    listed = (entry.name for entry in files("scaletui_engine.scenarios").iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in listed if name.endswith(_SUFFIX)))


def load_scenario(name: str) -> Scenario:
    """The shipped scenario of that name. Raises UnknownNameError with the nearest."""
    return _load(Names("scenario", scenario_ids(), {normal(key): key for key in scenario_ids()}).find(name))


@cache
def _load(key: str) -> Scenario:
    return load(files("scaletui_engine.scenarios").joinpath(key + _SUFFIX).read_text("utf-8"))
