"""What holds for every test."""

from __future__ import annotations

import importlib.util
import re
import signal
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LONGEST_S: Final = 600.0
"""No test waits for anything longer than that, whatever it waits for: it fails. Nothing is measured by it."""

# A busy machine is no reason to fail, and the same commit gives the same answer.
settings.register_profile(
    "scaletui", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("scaletui")

_WITHOUT_TORCH = importlib.util.find_spec("torch") is None
_IMPORTS_TORCH = re.compile(r"^(import|from) torch\b", re.MULTILINE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let no test hang, nor what is set up for it."""

    def give_up(*_: object) -> None:
        pytest.fail(f"{item.nodeid} was not over after {LONGEST_S:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave modules that import torch alone where there is none: `-m "not torch"` cannot see into them."""
    if not _WITHOUT_TORCH or collection_path.suffix != ".py":
        return None
    return bool(_IMPORTS_TORCH.search(collection_path.read_text(encoding="utf-8"))) or None
