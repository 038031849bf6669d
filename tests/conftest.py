"""What holds for every test."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pathlib import Path

# A busy machine is no reason to fail, and the same commit gives the same answer.
settings.register_profile(
    "scaletui", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("scaletui")

_WITHOUT_TORCH = importlib.util.find_spec("torch") is None
_IMPORTS_TORCH = re.compile(r"^(import|from) torch\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave modules that import torch alone where there is none: `-m "not torch"` cannot see into them."""
    if not _WITHOUT_TORCH or collection_path.suffix != ".py":
        return None
    return bool(_IMPORTS_TORCH.search(collection_path.read_text(encoding="utf-8"))) or None
