"""Recordings on disk, and blocks as bytes to spoil them with."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from looks import Story, looks

from scaletui_engine.live.recording.layout import MAGIC, START, VERSION, Block
from scaletui_engine.live.recording.packing import Stamp, dumped, packed, sealed
from scaletui_engine.live.recording.reader import Recording
from scaletui_engine.live.recording.schema import own_classes
from scaletui_engine.live.recording.writer import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaletui_engine.live.snapshot import Snapshot


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., tuple[Path, list[Snapshot]]]:
    """`record(count, ranks=..., ...)`: the file, and the looks that are in it."""

    def make(count: int = 40, **story: int) -> tuple[Path, list[Snapshot]]:
        path = tmp_path / "job.rec"
        recorder = Recorder(str(path))
        seen = list(looks(Story(**story), count))
        for look in seen:
            recorder.take(look)
        recorder.close()
        return path, seen

    return make


@pytest.fixture
def opened() -> Iterator[Callable[[object], Recording]]:
    """`opened(path)`: a recording that is closed when the test ends."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(Recording(str(path)))


@pytest.fixture
def forge(tmp_path: Path) -> Callable[..., str]:
    """`forge((kind, value), ...)`: a file of sound blocks with these values in them."""

    def make(*blocks: tuple[Block, object], classes: object = None) -> str:
        path = tmp_path / "forged.rec"
        data, before = START.pack(MAGIC, VERSION), b""
        schema = {"classes": own_classes() if classes is None else classes}
        for kind, value in ((Block.SCHEMA, schema), *blocks):
            raw = value if isinstance(value, bytes) else dumped(value)
            data += sealed(kind, packed(raw, before if kind is Block.CHANGE else b""), Stamp(5, 5))
            before = raw if kind in (Block.WHOLE, Block.CHANGE) else before
        path.write_bytes(data)
        return str(path)

    return make
