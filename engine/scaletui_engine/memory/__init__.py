"""The memory budget of every pipeline stage of a scenario."""

from scaletui_engine.memory.evaluate import evaluate

__all__ = ["evaluate"]
