"""The memory budget of every pipeline stage of a scenario."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scaletui_engine.memory.evaluation import evaluate

__all__ = ["evaluate"]


def __getattr__(name: str) -> Any:
    """`evaluate`, once it is asked for: a viewer of jobs needs parts of this package and no budget."""
    if name != "evaluate":
        raise AttributeError(name)
    from scaletui_engine.memory.evaluation import evaluate

    return evaluate
