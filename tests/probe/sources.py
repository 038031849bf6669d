"""What stands in the product's own source files."""

from __future__ import annotations

import re
from pathlib import Path

import scaletui
import scaletui_engine
import scaletui_probe


def sources_with(pattern: str) -> list[str]:
    """The files in which a pattern stands."""
    packages = (scaletui_probe, scaletui_engine, scaletui)
    files = [path for package in packages for path in Path(str(package.__file__)).parent.rglob("*.py")]
    return [path.name for path in files if re.search(pattern, path.read_text(encoding="utf-8"))]
