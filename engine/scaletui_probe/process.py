"""What the operating system knows about a process: when it began, which boot it belongs to, how much
memory it holds."""

from __future__ import annotations

import os


def start_ticks(pid: int) -> int:
    """Clock ticks after boot at which the process began (field 22 of /proc/PID/stat); 0 where there is no
    /proc."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return int(fields[19]) if len(fields) > 19 else 0


def boot_id() -> str:
    """The kernel's name for this boot; empty where there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class ResidentMemory:
    """Reads this process's resident memory, in bytes, through one descriptor that stays open."""

    def __init__(self) -> None:
        self._page_size = os.sysconf("SC_PAGE_SIZE")
        try:
            self._descriptor = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = -1

    def read(self) -> int | None:
        """Resident bytes, or None where there is no /proc."""
        if self._descriptor < 0:
            return None
        return int(os.pread(self._descriptor, 128, 0).split()[1]) * self._page_size

    def close(self) -> None:
        """Let go of the descriptor."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
