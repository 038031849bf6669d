"""The shipped scenarios: TOML files beside this module, and their loader."""

from scaletui_engine.scenarios.shipped import load_scenario, scenario_ids

__all__ = ["load_scenario", "scenario_ids"]
