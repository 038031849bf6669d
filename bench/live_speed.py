"""What one look at many rings costs: 1,024 living processes that each publish a record or two a second.

    python bench/live_speed.py [--rings 1024] [--rounds 12]

A refresh is what the watcher's thread does at 1 Hz: poll every ring, take what is new, make the snapshot.
Limits for 1,024 rings: 50 ms of processor time a refresh, which is half of a tenth of a core; and once every
history is full, refreshes leave the memory as it is (shown for a few rings, because tracing is slow).
Processor time is counted, so that other work on the machine does not; only a shared cache makes it more.
Exit code 1 when a limit is not kept.
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
    views: float
    """To work out step, categories, allocator and history of every rank, for whoever looks at all of them."""
    idle: float


def measure(watched: Watched, rounds: int) -> Costs:
    """First refresh, median refresh with news from every rank, median without."""
    watched.write()
    first, _ = watched.refresh()
    busy, views, idle = [], [], []
    for _ in range(rounds):
        watched.write()
        spent, snapshot = watched.refresh()
        busy.append(spent)
        begin = time.process_time()
        seen = [(rank.step, rank.measured, rank.allocator, rank.history) for rank in snapshot.jobs[0].ranks]
        views.append((time.process_time() - begin) * 1e3)
        assert [step for step, *_ in seen] == [watched.step] * len(watched.writers)
    for _ in range(rounds):
        idle.append(watched.refresh()[0])
    return Costs(first, *map(statistics.median, (busy, views, idle)))


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
def watched_rings(count: int) -> Iterator[Watched]:
    """So many rings in a folder of their own, and a store that has not seen them yet."""
    with tempfile.TemporaryDirectory() as name, crowd(count) as people:
        folder = Path(name) / "rings"
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
    with watched_rings(options.rings) as watched:
        costs = measure(watched, options.rounds)
    with watched_rings(FEW) as watched:
        added = growth(watched) / FEW
    limit = LIMIT_MS * options.rings / 1024
    print(f"{options.rings} rings, processor time of a refresh")
    print(f"  first          {costs.first:8.1f} ms")
    share = f"{costs.busy / 10:.1f} % of a core at 1 Hz"
    print(f"  all have news  {costs.busy:8.1f} ms   limit {limit:.0f} ms   {share}")
    print(f"  none has       {costs.idle:8.1f} ms")
    print(f"to work out every view {costs.views:.1f} ms more: a screen asks for those that it shows")
    print(f"memory added by {LONG} refreshes {added:,.0f} bytes a ring   limit {GROWTH_LIMIT:,}")
    return int(costs.busy > limit or added > GROWTH_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
