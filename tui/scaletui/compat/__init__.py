"""Work-arounds for defects of libraries: each with the report it answers and what makes it unnecessary."""

from __future__ import annotations

from scaletui.compat.frugal import FrugalApp

__all__ = ["FrugalApp"]
