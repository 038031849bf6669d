"""The moments of a step at which a rank's memory can peak."""

from scaletui_engine.memory.phases.moment import Moment, Term
from scaletui_engine.memory.phases.moments import moments, peak

__all__ = ["Moment", "Term", "moments", "peak"]
