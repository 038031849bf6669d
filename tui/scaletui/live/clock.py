"""Now, on both clocks."""

from __future__ import annotations

import time

from scaletui_engine.live.snapshot import Moment


def now() -> Moment:
    """Both clocks, read together."""
    return Moment(time.monotonic_ns(), time.time_ns())
