"""What one look at many rings costs: 1,024 living processes that each publish a record or two a second.

    python bench/live_speed.py [--rings 1024] [--rounds 12]

A refresh is what the watcher's thread does at 1 Hz: poll every ring, take what is new, make the snapshot.
After it the live screen takes the snapshot in, with its alerts and who is late, and makes the
rows of every pane of 120x40 cells. Limits for 1,024 rings: 50 ms of processor time for a refresh, and a tenth
of a core for the whole program on a terminal at 1 Hz, refreshes, rows and painting; and once every history is
full, refreshes leave the memory as it is (shown for a few rings, because tracing is slow). Processor time is
counted, so that other work on the machine does not; only a shared cache makes it more. Exit code 1 when a
limit is not kept.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from live_rings import GIB, header_of, plan_of, record
from terminal.pseudo_terminal import PseudoTerminal, Setup

from scaletui.state.live import LiveState, arrived
from scaletui.text.glyphs import glyphs_for
from scaletui.text.numbers import numbers_for
from scaletui.view.box import Box
from scaletui.view.first_frame import first_rows
from scaletui.view.live_details import details_rows
from scaletui.view.live_room import room_for
from scaletui.view.live_trend import trend_rows
from scaletui.view.pen import Pen
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_probe.directory import open_directory
from scaletui_probe.layout import Kind
from scaletui_probe.process import start_ticks
from scaletui_probe.ring import RingWriter, create_ring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import Snapshot

LIMIT_MS = 50.0
"""For 1,024 rings; other numbers are held to their share of it."""
SHARE_LIMIT = 0.1
"""Of a core, for the whole program with 1,024 rings."""
SCREEN, SIDE, FRAME = Box(120, 40), 44, 3
"""Cells of the terminal, those beside the ranks, and rows around them."""
SETTLING_S, WATCHED_S = 8, 20
"""Until every plan has been read, and how long the program is then watched."""
GROWTH_LIMIT = 32 << 10
"""Bytes a ring that `LONG` refreshes may add once its history is full: less than its last 240 steps take, of
which the thinned past holds fewer and fewer."""
FEW, FULL, LONG = 4, 2047, 2048
"""Rings that are traced; steps until a history is full, and until it is full again after it was thinned."""
FIGURES = {
    "requested": 40 * GIB, "alloc_retries": 0, "ooms": 0, "allocated_peak": 45 * GIB, "active_peak": 46 * GIB,
    "reserved": 50 * GIB, "active": 41 * GIB, "inactive_split": GIB, "allocated_peak_seen": 45 * GIB,
    "reserved_peak": 50 * GIB, "driver_free": 20 * GIB, "driver_total": 80 * GIB, "host_rss": GIB,
    "weights_device": 10 * GIB, "gradients_device": 10 * GIB, "optimizer_device": 20 * GIB,
}  # fmt: skip


@contextmanager
def crowd(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes that do nothing, each with a pid of its own."""
    people = [subprocess.Popen(["sleep", "3600"]) for _ in range(count)]
    try:
        yield people
    finally:
        for person in people:
            person.kill()
        for person in people:
            person.wait()


def rings(folder: Path, pids: list[int]) -> list[RingWriter]:
    """A ring for every process, with a plan in it."""
    directory = open_directory(str(folder), create=True)
    count = len(pids)
    writers = []
    for rank, pid in enumerate(pids):
        header = header_of(rank, count, pid=pid, pid_start_ticks=start_ticks(pid), device_type="cuda")
        writers.append(create_ring(directory, header))
        writers[-1].put_plan(plan_of(rank, count))
    os.close(directory)
    return writers


@dataclass
class Watched:
    """Rings, and the store that follows them."""

    writers: list[RingWriter]
    source: RingSource
    store: Store
    step: int = 0

    def write(self) -> None:
        """A second of the job: every rank makes a step, and its thread takes a sample."""
        self.step += 1
        for rank, ring in enumerate(self.writers):
            told = {"step": self.step, "step_ns": 400_000_000 + rank, "allocated": 40 * GIB + self.step}
            ring.put(record(Kind.STEP, {**told, **FIGURES, "counted_at_step": self.step}))
            ring.put(record(Kind.SAMPLE, {**told, **FIGURES, "active": 41 * GIB + rank + self.step}))

    def publish(self, terminal: PseudoTerminal, seconds: int) -> float:
        """So many seconds of the job, while a program draws on the terminal; how long they took."""
        begin = time.monotonic()
        for second in range(seconds):
            self.write()
            terminal.bytes_during(max(begin + second + 1 - time.monotonic(), 0.05))
        return time.monotonic() - begin

    def refresh(self) -> tuple[float, Snapshot]:
        """Milliseconds of processor time, and the snapshot."""
        begin = time.process_time()
        moment = Moment(time.monotonic_ns(), time.time_ns())
        snapshot = self.store.take(self.source.poll(moment), moment)
        return (time.process_time() - begin) * 1e3, snapshot


@dataclass(frozen=True)
class Costs:
    """Milliseconds of processor time."""

    first: float
    busy: float
    screen: float
    """What the live screen adds to a refresh."""
    idle: float


def measure(watched: Watched, rounds: int) -> Costs:
    """First refresh, median refresh with news from every rank, median without."""
    watched.write()
    first, snapshot = watched.refresh()
    state = arrived(LiveState(), snapshot)
    busy, screen, idle = [], [], []
    for _ in range(rounds):
        watched.write()
        spent, snapshot = watched.refresh()
        busy.append(spent)
        begin = time.process_time()
        state = arrived(state, snapshot)
        draw(state)
        screen.append((time.process_time() - begin) * 1e3)
        seen = {rank.step for rank in snapshot.jobs[0].ranks}
        assert seen == {watched.step}, seen
    for _ in range(rounds):
        idle.append(watched.refresh()[0])
    return Costs(first, *map(statistics.median, (busy, screen, idle)))


def draw(state: LiveState) -> None:
    """Rows for every pane that shows, the first frame's and those that it leaves out."""
    pen = Pen(glyphs_for(ascii_only=False, hues=True), numbers_for("en"))
    first_rows(state, SCREEN, pen)
    main = Box(SCREEN.width - SIDE, SCREEN.height - FRAME)
    room = room_for(state, main, pen)
    left = main.height - room.answer - room.alerts - room.ranks - room.skew - room.compare
    trend_rows(state, Box(main.width, max(left, 0)), pen)
    details_rows(state, Box(SIDE, main.height - room.answer - room.alerts), pen)


def share_of_core(count: int) -> float:
    """Of the whole program on a terminal, while every rank has news once a second.

    The terminal comes first: select takes no descriptor beyond those of a thousand rings.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "rings"
        command = (sys.executable, "-m", "scaletui", "live", "--interval", "1", "--dir", str(folder))
        setup = Setup(SCREEN.width, SCREEN.height)
        with PseudoTerminal(command, setup) as terminal, watched_rings(count, folder) as watched:
            watched.publish(terminal, SETTLING_S)
            before = cpu_s(terminal.process.pid)
            seconds = watched.publish(terminal, WATCHED_S)
            return (cpu_s(terminal.process.pid) - before) / seconds


def cpu_s(pid: int) -> float:
    """CPU time of a process (Linux: fields 14 and 15 of /proc/PID/stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def growth(watched: Watched) -> int:
    """Bytes that many refreshes add after histories and memos are full."""
    tracemalloc.start()
    found = []
    for rounds in (FULL, LONG):
        for _ in range(rounds):
            watched.write()
            watched.refresh()
        gc.collect()
        found.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return found[1] - found[0]


@contextmanager
def watched_rings(count: int, folder: Path) -> Iterator[Watched]:
    """So many rings in a folder, and a store that has not seen them yet."""
    with crowd(count) as people:
        writers = rings(folder, [person.pid for person in people])
        source = RingSource(str(folder))
        yield Watched(writers, source, Store(source.host))
        source.close()
        for ring in writers:
            ring.close()


def main() -> int:
    """Measure and print; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rings", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    share = share_of_core(options.rings)
    with tempfile.TemporaryDirectory() as name:
        with watched_rings(options.rings, Path(name) / "many") as watched:
            costs = measure(watched, options.rounds)
        with watched_rings(FEW, Path(name) / "few") as watched:
            added = growth(watched) / FEW
    scale = options.rings / 1024
    told(costs, share, scale)
    print(f"memory added by {LONG} refreshes {added:,.0f} bytes a ring   limit {GROWTH_LIMIT:,}")
    is_late = costs.busy > LIMIT_MS * scale or share > SHARE_LIMIT
    return int(is_late or added > GROWTH_LIMIT)


def told(costs: Costs, share: float, scale: float) -> None:
    """Print what was measured beside its limits; those of a core are of a whole one, however few rings."""
    print(f"{1024 * scale:,.0f} rings, processor time")
    print(f"  first refresh                {costs.first:8.1f} ms")
    print(f"  refresh, all have news       {costs.busy:8.1f} ms   limit {LIMIT_MS * scale:.0f} ms")
    print(f"  rows of a screen after it    {costs.screen:8.1f} ms")
    print(f"  refresh, none has            {costs.idle:8.1f} ms")
    print(f"whole program at 1 Hz          {share:8.1%} of a core   limit {SHARE_LIMIT:.0%}")


if __name__ == "__main__":
    sys.exit(main())
