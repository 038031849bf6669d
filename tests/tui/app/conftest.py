"""The app in a terminal that exists only in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.app import ScaletuiApp
from scaletui.options import ScreenOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def make_app(tmp_path: Path) -> Callable[..., ScaletuiApp]:
    """An app with some options, watching a folder without jobs."""

    def make(**options: object) -> ScaletuiApp:
        return ScaletuiApp(ScreenOptions(ring_dir=str(tmp_path), **options))  # type: ignore[arg-type]

    return make
