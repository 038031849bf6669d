"""From compute actions to the messages and FSDP actions that a runtime needs, pass by pass."""

from scaletui_engine.schedule.lowering.lower import Passes, compute_only, lower

__all__ = ["Passes", "compute_only", "lower"]
