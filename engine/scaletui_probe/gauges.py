"""Reads what changes all the time: allocator, driver and host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_probe import cuda
from scaletui_probe.layout import Reason
from scaletui_probe.process import ResidentMemory

if TYPE_CHECKING:
    from scaletui_probe.record import Measures


class Gauges:
    """The readings of one process; a reading that fails says so and hides no other."""

    def __init__(self) -> None:
        self.device = cuda.Device()
        self._resident = ResidentMemory()
        self._highest = 0

    def find_device(self) -> bool:
        """Look for the training thread's device, from that thread; True when there is one now and was
        none before."""
        if self.device.ordinal >= 0:
            return False
        self.device = cuda.device()
        return self.device.ordinal >= 0

    def read(self, measures: Measures, stepped: bool) -> None:
        """Fill in allocator, driver and host memory."""
        self.read_quickly(measures, stepped)
        if self.device.ordinal >= 0:
            self._driver(measures)

    def read_quickly(self, measures: Measures, stepped: bool) -> None:
        """Fill in allocator and host memory: what the end of a step can afford; the driver may be slow."""
        resident = self._resident.read()
        if resident is None:
            measures.lack("host", Reason.NOT_SUPPORTED)
        else:
            measures.put({"host_rss": resident})
        if self.device.ordinal < 0:
            measures.lack("allocator", cuda.absence(stepped))
            measures.lack("driver", cuda.absence(stepped))
            return
        measures.lack("driver", Reason.NOT_COUNTED)
        try:
            found = cuda.allocator(self.device.ordinal)
        except Exception:
            measures.lack("allocator", Reason.READ_FAILED)
            return
        if found is None:
            measures.lack("allocator", Reason.NOT_TRACKED)
            return
        self._highest = max(self._highest, found.get("allocated_peak", 0), found.get("allocated", 0))
        measures.put({**found, "allocated_peak_seen": self._highest})

    def _driver(self, measures: Measures) -> None:
        try:
            measures.put(cuda.driver(self.device.ordinal))
        except Exception:
            measures.lack("driver", Reason.READ_FAILED)

    def close(self) -> None:
        """Let go of what is open."""
        self._resident.close()
