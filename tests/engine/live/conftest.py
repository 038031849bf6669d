"""Rings as bytes and as files, and viewers of them."""

from __future__ import annotations

import select
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from live_images import HEADER_OF_RANK_0, SmallRing, record

from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaletui_engine.live.snapshot import Snapshot
    from scaletui_probe.header import Header
    from scaletui_probe.record import Record

PATIENCE_S = 180.0
"""How long a real job may take on a busy machine; nothing is asserted about it."""


@pytest.fixture
def ring() -> SmallRing:
    """A small ring with nothing in it but a header and an empty plan."""
    return SmallRing()


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """`record(kind, at_ns, **measures)`."""
    return record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that only its owner may look into."""
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def put(folder: Path) -> Callable[..., str]:
    """Write a ring's bytes under its name in the folder and give the path."""

    def write(image: bytes, name: str = "r00000.p1.1.ring") -> str:
        path = folder / name
        path.write_bytes(image)
        path.chmod(0o600)
        return str(path)

    return write


@pytest.fixture
def renamed() -> Callable[..., Header]:
    """The header of rank 0 with some fields replaced."""

    def change(**fields: object) -> Header:
        return HEADER_OF_RANK_0._replace(**fields)

    return change


@pytest.fixture
def with_records(ring: SmallRing) -> Callable[..., SmallRing]:
    """A small ring with these samples, steps and events."""

    def fill(
        samples: tuple[Record, ...] = (), steps: tuple[Record, ...] = (), events: tuple[Record, ...] = ()
    ) -> SmallRing:
        return replace(ring, records=(samples, steps, events))

    return fill


@pytest.fixture
def look_at_each() -> Callable[[Path], list[Snapshot]]:
    """One look at a folder, a snapshot for each ring, as if it were the only one."""

    def once(folder: Path) -> list[Snapshot]:
        source = RingSource(str(folder))
        moment = Moment(time.monotonic_ns(), time.time_ns())
        update = source.poll(moment)
        source.close()
        return [Store(source.host).take(replace(update, rings=(ring,)), moment) for ring in update.rings]

    return once


@pytest.fixture
def watch() -> Iterator[Callable[[Path, Callable[[Snapshot], bool]], Snapshot]]:
    """`watch(folder, condition)`: look again whenever a process ends, and every 50 ms, until it holds.

    One viewer for the whole test, as a person has one.
    """
    sources: dict[Path, tuple[RingSource, Store]] = {}

    def until(folder: Path, condition: Callable[[Snapshot], bool]) -> Snapshot:
        if folder not in sources:
            source = RingSource(str(folder))
            sources[folder] = source, Store(source.host)
        source, store = sources[folder]
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            moment = Moment(time.monotonic_ns(), time.time_ns())
            snapshot = store.take(source.poll(moment), moment)
            if condition(snapshot):
                return snapshot
            poller = select.poll()
            for descriptor in source.descriptors():
                poller.register(descriptor, select.POLLIN)
            poller.poll(50)
        pytest.fail(f"never came true: {snapshot}")

    yield until
    for source, _ in sources.values():
        source.close()
