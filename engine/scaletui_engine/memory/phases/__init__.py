"""The moments of a step at which a rank's memory can peak."""

from scaletui_engine.memory.phases.moment import Moment, Term
from scaletui_engine.memory.phases.moments import Peaks, moments, peak, peak_at, peak_parts, peaks_of

__all__ = ["Moment", "Peaks", "Term", "moments", "peak", "peak_at", "peak_parts", "peaks_of"]
