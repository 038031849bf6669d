"""Reads what changes all the time: allocator, driver and host memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scaletui_probe import cuda
from scaletui_probe.budget import Budget
from scaletui_probe.layout import Reason
from scaletui_probe.process import ResidentMemory

if TYPE_CHECKING:
    from scaletui_probe.record import Measures


_DRIVER_SHARE = 0.0003
"""Of the time that passes, what questions to the driver may take of the training thread's."""


class Gauges:
    """The readings of one process; a reading that fails says so and hides no other.

    Only the thread that trains asks the driver: asked from another, it might spoil a CUDA graph that is being
    recorded, and a driver that does not answer would hold that other thread when the process ends.
    """

    def __init__(self) -> None:
        self.device = cuda.Device()
        self._resident = ResidentMemory()
        self._highest = 0
        self._driver = Budget(_DRIVER_SHARE)
        self._told: dict[str, int] = {}
        self._silence = Reason.NOT_COUNTED

    def find_device(self) -> bool:
        """Look for the training thread's device, from that thread; True when there is one now and was
        none before."""
        if self.device.ordinal >= 0:
            return False
        self.device = cuda.device()
        return self.device.ordinal >= 0

    def ask_driver(self) -> None:
        """Have the driver tell what is free, when it is due; from the training thread, outside of a graph."""
        begin = time.monotonic_ns()
        if self.device.ordinal < 0 or begin < self._driver.next_ns or cuda.is_capturing():
            return
        try:
            self._told = cuda.driver(self.device.ordinal)
        except Exception:
            self._told, self._silence = {}, Reason.READ_FAILED
        end = time.monotonic_ns()
        self._driver.spent(end, end - begin)

    def read(self, measures: Measures, stepped: bool) -> None:
        """Fill in allocator and host memory, and what the driver told last; from any thread."""
        resident = self._resident.read()
        if resident is None:
            measures.lack("host", Reason.NOT_SUPPORTED)
        else:
            measures.put({"host_rss": resident})
        if self.device.ordinal < 0:
            measures.lack("allocator", cuda.absence(stepped))
            measures.lack("driver", cuda.absence(stepped))
            return
        measures.put(self._told)
        measures.lack("driver", self._silence)
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

    def close(self) -> None:
        """Let go of what is open."""
        self._resident.close()
