"""Recordings of made-up jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from looks import Story, looks

from scaletui_engine.live.recording.reader import Recording
from scaletui_engine.live.recording.writer import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """40 looks in 19.5 s of two ranks; at 10 s rank 0 runs out of memory, and rank 1 falls with it."""
    return record(tmp_path / "job.rec", Story(2, fails_at=20), 40)


@pytest.fixture
def recording(path: Path) -> Iterator[Recording]:
    with Recording(str(path)) as opened:
        yield opened


@pytest.fixture
def make_recording(tmp_path: Path) -> Callable[[Story, int], Path]:
    """`make(story, count)`: another file."""
    return lambda story, count: record(tmp_path / "other.rec", story, count)


def record(path: Path, story: Story, count: int) -> Path:
    recorder = Recorder(str(path))
    for look in looks(story, count):
        recorder.take(look)
    recorder.close()
    return path
