"""What the screen costs on real pseudo-terminals: bytes, milliseconds from a key to its answer, idle CPU.

Usage: python bench/screen.py [--keys N]. Bytes are exact on any machine; times are those of this one, so the
answer to a key that changes nothing stands beside those that do: the difference is what scaletui computes.
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

RIGHT, LEFT, DOWN, UP = b"\x1b[C", b"\x1b[D", b"\x1b[B", b"\x1b[A"
KEYS = {"choose a field": (DOWN, UP), "edit": (RIGHT, LEFT), "change of screen": (b"2", b"1")}
IDLE_S = 5.0
ANSWER_MS = 50.0
"""Within which a key is answered, also on the largest schedule."""
PIPELINE = (
    "--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "32", "--pp", "4", "--global-batch", "64",
)  # fmt: skip
"""4 ranks, 8 microbatches, for the schedule's clock."""
LARGE = """
[model]
like = "llama3-70b"
layers = 128
[cluster]
gpus = 512
gpu = "h100-sxm"
[plan]
tp = 8
pp = 64
global_batch = {microbatches}
schedule = "interleaved-1f1b"
chunks = 2
"""
"""64 ranks of 2 chunks."""
COLD_KEYS = {
    "zoom": (b"z",) * 8,
    "turned page": (b"\x1b[1;2C",) * 8,
    "scrub": (b"\x1b[C", b"\x1b[F", b"\x1b[H", b".", b"\x1b[C", b"\x1b[B", b",", b"\x1b[D"),
}
"""What has not been drawn before: every zoom and every page once."""


@dataclass(frozen=True)
class Line:
    """A terminal to measure on."""

    columns: int
    rows: int
    bytes_per_s: int | None = None

    def __str__(self) -> str:
        speed = f", {self.bytes_per_s // 1000} kB/s" if self.bytes_per_s else ""
        return f"{self.columns}x{self.rows}{speed}"


def answer(terminal: PseudoTerminal, key: bytes) -> tuple[float, int]:
    """Milliseconds to the first byte of the answer, and bytes of the largest frame until it is quiet."""
    start = time.perf_counter()
    mark = terminal.send(key)
    terminal.wait_until(lambda: len(terminal.output) > mark, f"an answer to {key!r}")
    first_ms = (time.perf_counter() - start) * 1e3
    terminal.wait_quiet(0.25)
    return first_ms, max(map(len, frames(terminal.since(mark))), default=0)


def cpu_s(pid: int) -> float:
    """CPU time of a process (Linux: fields 14 and 15 of /proc/PID/stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(line: Line, keys: int, folder: str) -> None:
    """Print one terminal's figures."""
    setup = Setup(line.columns, line.rows, {"SCALETUI_DIR": folder}, bytes_per_s=line.bytes_per_s)
    started = time.perf_counter()
    with PseudoTerminal([sys.executable, "-m", "scaletui", "budget"], setup) as terminal:
        terminal.wait_for("quit")
        first_s = time.perf_counter() - started
        terminal.wait_quiet(1.0)
        print(f"{line}: first picture {first_s:.2f} s, {len(terminal.output):,} bytes to start")
        for _ in range(2):
            answer(terminal, DOWN)
        for name, pair in KEYS.items():
            answers = [answer(terminal, pair[turn % 2]) for turn in range(keys)]
            times = sorted(first_ms for first_ms, _ in answers)
            largest = max(size for _, size in answers)
            print(
                f"  {name:<18} key to first byte {statistics.median(times):5.1f} ms median,"
                f" {times[int(len(times) * 0.95)]:5.1f} ms at 95 %; largest frame {largest:,} bytes"
            )
        before = cpu_s(terminal.process.pid)
        idle_bytes = terminal.bytes_during(IDLE_S)
        share = (cpu_s(terminal.process.pid) - before) / IDLE_S
        print(f"  idle               {idle_bytes} bytes, {share:.1%} of a core over {IDLE_S:.0f} s")


def play(line: Line, folder: str) -> None:
    """Print what the schedule's clock costs while it runs."""
    setup = Setup(line.columns, line.rows, {"SCALETUI_DIR": folder}, bytes_per_s=line.bytes_per_s)
    command = [sys.executable, "-m", "scaletui", "budget", *PIPELINE]
    with PseudoTerminal(command, setup) as terminal:
        terminal.wait_for("quit")
        terminal.send(b"2")
        terminal.wait_for("bubble B")
        terminal.wait_quiet(1.5)
        mark, before = terminal.send(b" "), cpu_s(terminal.process.pid)
        terminal.bytes_during(IDLE_S * 2)
        share = (cpu_s(terminal.process.pid) - before) / (IDLE_S * 2)
        sizes = [len(frame) for frame in frames(terminal.since(mark))]
        print(
            f"  schedule playing   {len(sizes)} frames of {statistics.mean(sizes):,.0f} bytes,"
            f" the largest {max(sizes):,}; {share:.1%} of a core over {IDLE_S * 2:.0f} s"
        )


def first_byte(terminal: PseudoTerminal, key: bytes) -> tuple[float, float]:
    """Milliseconds from a key to the first byte of its answer: on the clock, and of processor time."""
    before, start = running_s(terminal.process.pid), time.perf_counter()
    mark = terminal.send(key)
    terminal.wait_until(lambda: len(terminal.output) > mark, f"an answer to {key!r}")
    answered = time.perf_counter()
    spent = running_s(terminal.process.pid) - before
    terminal.wait_quiet(0.25)
    return (answered - start) * 1e3, spent * 1e3


def running_s(pid: int) -> float:
    """Processor time of all threads of a process (Linux: nanoseconds in /proc/PID/task/*/schedstat)."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) * 1e-9


def large(line: Line, microbatches: int, folder: str) -> bool:
    """Print how fast keys are answered on the largest schedules, and tell whether fast enough.

    Processor time counts: what else the machine does is not scaletui's.
    """
    slowest_ms = 0.0
    path = Path(folder) / f"large{microbatches}.toml"
    path.write_text(LARGE.format(microbatches=microbatches))
    command = [sys.executable, "-m", "scaletui", "budget", "--scenario", str(path)]
    setup = Setup(line.columns, line.rows, {"SCALETUI_DIR": folder})
    with PseudoTerminal(command, setup) as terminal:
        terminal.wait_for("quit")
        terminal.send(b"2")
        terminal.wait_for(f"p 64  m {microbatches}")
        terminal.wait_quiet(1.5)
        for name, keys in COLD_KEYS.items():
            answers = [first_byte(terminal, key) for key in keys]
            wall, spent = zip(*answers, strict=True)
            slowest_ms = max(slowest_ms, *spent)
            sign = "ok  " if max(spent) <= ANSWER_MS else "OVER"
            print(
                f"  {sign} p 64, m {microbatches}, v 2, {name:<11} processor to first byte"
                f" {max(spent):5.1f} ms worst (<= {ANSWER_MS:g}); by the clock"
                f" {statistics.median(wall):5.1f} ms median, {max(wall):5.1f} ms worst"
            )
    return slowest_ms <= ANSWER_MS


def main() -> int:
    """Measure three terminals; 0 when the largest schedules answer in time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=40, metavar="N", help="keys of each kind (40)")
    keys = parser.parse_args().keys
    in_time = True
    with tempfile.TemporaryDirectory() as folder:
        for line in (Line(80, 24), Line(200, 50), Line(200, 50, 100_000)):
            measure(line, keys, folder)
            play(line, folder)
        for line in (Line(80, 24), Line(200, 50)):
            print(f"{line}:")
            for microbatches in (512, 1024):
                in_time &= large(line, microbatches, folder)
    return 0 if in_time else 1


if __name__ == "__main__":
    sys.exit(main())
