"""What a selection costs on the sharding screen, at Llama 3.1 405B on 16,384 GPUs, on real pseudo-terminals.

    python bench/sharding_screen.py [--keys 20]

Limits: 50 ms of processor time from a key to the last byte of its answer, 200 MB of memory, 4 KB a frame at
80x24 and 8 KB at 200x50. The wall clock to the first byte stands beside it, which other work on the machine
lengthens. Exit code 1 when a limit is not kept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from terminal.pseudo_terminal import PseudoTerminal, Setup, frames

SCENARIO = "llama3-405b-16384"
LIMIT_MS, MEMORY_MB = 50.0, 200.0
FRAME_BYTES = {(80, 24): 4096, (200, 50): 8192}
RIGHT, LEFT, DOWN, UP = b"\x1b[C", b"\x1b[D", b"\x1b[B", b"\x1b[A"
KEYS = {
    "another rank": (b".", b","),
    "another tile": (RIGHT, LEFT),
    "another parameter": (DOWN, UP),
    "another part": (b"p", b"p"),
    "a row of traffic": (b"]", b"["),
    "another order": (b"o", b"o"),
    "as papers count": (b"v", b"v"),
}


@dataclass(frozen=True)
class Cost:
    """One answer."""

    first_ms: float
    cpu_ms: float
    largest: int


def cpu_s(pid: int) -> float:
    """Processor time of a process in nanosecond steps (Linux: /proc/PID/schedstat), all threads."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def memory_mb(pid: int) -> float:
    """The most that the process held (Linux: VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def answer(terminal: PseudoTerminal, key: bytes) -> Cost:
    """Press a key and read until it is quiet."""
    pid = terminal.process.pid
    before, start = cpu_s(pid), time.perf_counter()
    mark = terminal.send(key)
    terminal.wait_until(lambda: len(terminal.output) > mark, f"an answer to {key!r}")
    first_ms = (time.perf_counter() - start) * 1e3
    terminal.wait_quiet(0.15)
    largest = max(map(len, frames(terminal.since(mark))), default=0)
    return Cost(first_ms, (cpu_s(pid) - before) * 1e3, largest)


def measure(size: tuple[int, int], keys: int, folder: str) -> bool:
    """Print one terminal's figures; whether every limit is kept."""
    setup = Setup(*size, {"SCALETUI_DIR": folder})
    command = [sys.executable, "-m", "scaletui", "sharding", "--scenario", SCENARIO]
    kept = True
    with PseudoTerminal(command, setup) as terminal:
        terminal.wait_for("node 0")
        terminal.wait_quiet(1.0)
        print(f"{size[0]}x{size[1]}")
        for name, pair in KEYS.items():
            costs = [answer(terminal, pair[turn % 2]) for turn in range(keys)]
            first = statistics.median(cost.first_ms for cost in costs)
            cpu = statistics.median(cost.cpu_ms for cost in costs)
            largest = max(cost.largest for cost in costs)
            kept = kept and cpu < LIMIT_MS and largest <= FRAME_BYTES[size]
            print(
                f"  {name:<18} processor {cpu:5.1f} ms (limit {LIMIT_MS:g}),"
                f" key to first byte {first:5.1f} ms;"
                f" largest frame {largest:,} bytes (limit {FRAME_BYTES[size]:,})"
            )
        memory = memory_mb(terminal.process.pid)
    print(f"  memory {memory:.0f} MB (limit {MEMORY_MB:g})")
    return kept and memory < MEMORY_MB


def main() -> int:
    """Measure two terminals; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=20, metavar="N", help="keys of each kind (20)")
    keys = parser.parse_args().keys
    os.environ.pop("SCALETUI_DIR", None)
    with tempfile.TemporaryDirectory() as folder:
        kept = [measure(size, keys, folder) for size in FRAME_BYTES]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
