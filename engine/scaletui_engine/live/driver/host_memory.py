"""The machine's own memory, which some GPUs share."""

from __future__ import annotations

from scaletui_engine.live.driver.reading import HostMemory


def host_memory(proc: str = "/proc") -> HostMemory | None:
    """MemTotal and MemAvailable of proc_meminfo(5), in bytes; None where they cannot be read."""
    try:
        with open(f"{proc}/meminfo", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        total, available = (int(fields[name].split()[0]) << 10 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError, IndexError):
        return None
    return HostMemory(total, available)
