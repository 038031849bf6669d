"""Polls a source of made-up GPUs sweep by sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.live.driver.nvml_source import NvmlSource
from scaletui_engine.live.snapshot import Moment

if TYPE_CHECKING:
    from pathlib import Path

    from fake_nvml.binding import FakeNvml

    from scaletui_engine.live.driver.reading import DriverView
    from scaletui_engine.live.source import SourceUpdate

S = 1_000_000_000


class Sweeper:
    """A source, and the moments at which it is polled."""

    def __init__(self, nvml: FakeNvml, proc: Path | str = "/proc") -> None:
        self.source = NvmlSource(lambda: nvml, str(proc))

    def sweep(self, second: int = 1) -> tuple[DriverView, ...]:
        """Every GPU, asked once."""
        return self.update(second).drivers

    def update(self, second: int = 1) -> SourceUpdate:
        """The last update of one whole sweep."""
        update = self.source.poll(Moment(second * S, 0))
        while update.more:
            update = self.source.poll(Moment(second * S, 0))
        return update
