"""scaletui's live screen beside other monitors of GPUs, on made-up GPUs: first frame, bytes, CPU, keys.

Usage: python bench/live_viewers.py [--rivals DIR] [--seconds S] [--runs N]. DIR is a virtual environment with
nvitop, gpustat and torchwatch-tui; what it lacks is left out. All run at 120x40 on a libnvidia-ml.so.1 that
is built here from tests/fake_nvml/nvml.c (needs a C compiler), with 8 GPUs whose figures move, one after the
other. Figures are of this machine; what counts is how those of one run compare. Exit code 1 when a limit is
not kept, 2 when nothing can be measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fake_nvml.shared_object import build
from live_rings import GIB, header_of, record
from terminal.pseudo_terminal import PseudoTerminal, Setup

from scaletui_probe.directory import open_directory
from scaletui_probe.layout import Kind
from scaletui_probe.ring import create_ring

if TYPE_CHECKING:
    from collections.abc import Iterator

GPUS = 8
FIRST_BYTES, QUIET_S = 1500, 0.08
"""A first frame is there when so many bytes have come and then none for so long."""
BYTES_PER_S, KEY_MS, FIRST_RATIO = 2500, 100, 1.5
KEYS = 20
RIVALS = {
    "nvitop": ("nvitop", "-m", "full"),
    "gpustat": ("gpustat", "-i", "1"),
    "torchwatch": ("torchwatch",),
}


@dataclass(frozen=True)
class Viewer:
    """A program to measure."""

    name: str
    command: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """What one viewer costs."""

    first_s: float
    bytes_per_s: float
    cpu: float
    """Share of one core, the viewer's children included."""


def main() -> int:
    """Measure ours and the others, then what is ours alone, beside the limits; 1 when one is not kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rivals", type=Path, metavar="DIR", help="a virtual environment with the others")
    parser.add_argument("--seconds", type=float, default=15.0, metavar="S", help="of steady state (15)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="starts of each (3)")
    args = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        library = build(folder)
        if library is None:
            print("no C compiler: the made-up libnvidia-ml.so.1 cannot be built, so nothing is measured")
            return 2
        stack.enter_context(job(folder / "rings"))
        nvml = {"LD_LIBRARY_PATH": str(library), "FAKE_NVML_COUNT": str(GPUS)}
        found = {viewer.name: measured(viewer, args) for viewer in viewers(folder, args.rivals, nvml)}
        kept = [judge(found), still(folder, nvml), *(keys(folder, nvml, lag_s) for lag_s in (0.0, 0.5))]
    return int(not all(kept))


def viewers(folder: Path, rivals: Path | None, nvml: dict[str, str]) -> list[Viewer]:
    """Ours without and with a job of eight ranks, and the others that are installed."""
    found = [
        Viewer("scaletui live", ours(folder / "nothing"), nvml),
        Viewer("scaletui live, 8 ranks", ours(folder / "rings"), nvml),
    ]
    for name, command in RIVALS.items():
        program = None if rivals is None else rivals / "bin" / command[0]
        if program is None or not program.exists():
            print(f"{name}: not installed there, left out")
            continue
        pids = ",".join(f"{gpu}:{os.getpid()}" for gpu in range(GPUS))
        found.append(Viewer(name, (str(program), *command[1:]), {**nvml, "FAKE_NVML_PIDS": pids}))
    return found


def ours(folder: Path) -> tuple[str, ...]:
    """The command of the live screen at one look a second."""
    folder.mkdir(mode=0o700, exist_ok=True)
    return (sys.executable, "-m", "scaletui", "live", "--interval", "1", "--dir", str(folder))


def terminal_of(viewer: Viewer) -> PseudoTerminal:
    """It, on a terminal of 120x40."""
    return PseudoTerminal(viewer.command, Setup(120, 40, viewer.variables))


def measured(viewer: Viewer, args: argparse.Namespace) -> Figures:
    """Start it a few times, and look at the last one for a while."""
    firsts, rate, cpu = [], 0.0, 0.0
    for run in range(args.runs):
        with terminal_of(viewer) as terminal:
            firsts.append(first_frame_s(terminal))
            if run == args.runs - 1:
                terminal.bytes_during(3.0)
                before = cpu_s(terminal.process.pid)
                rate = terminal.bytes_during(args.seconds) / args.seconds
                cpu = (cpu_s(terminal.process.pid) - before) / args.seconds
    figures = Figures(statistics.median(firsts), rate, cpu)
    print(
        f"{viewer.name:<24} first frame {figures.first_s:5.2f} s   {figures.bytes_per_s:8,.0f} bytes/s"
        f"   {figures.cpu:6.2%} of a core"
    )
    return figures


def first_frame_s(terminal: PseudoTerminal) -> float:
    """Seconds from the start to the last byte of the first whole frame."""
    start, seen, last = time.perf_counter(), 0, 0.0
    while (now := time.perf_counter() - start) < 15:
        terminal.bytes_during(0.005)
        if len(terminal.output) != seen:
            seen, last = len(terminal.output), now
        elif seen >= FIRST_BYTES and now - last > QUIET_S:
            break
    return last


def cpu_s(pid: int) -> float:
    """CPU time of a process and its children (Linux: fields 14 to 17 of /proc/PID/stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_s(int(child)) for child in children)


def judge(found: dict[str, Figures]) -> bool:
    """Ours against the limits, those that others set included; whether all are kept."""
    nvitop = found.get("nvitop")
    kept = True
    for name in ("scaletui live", "scaletui live, 8 ranks"):
        mine = found[name]
        kept = kept and mine.bytes_per_s <= BYTES_PER_S
        print(f"{name}: {mine.bytes_per_s:,.0f} of {BYTES_PER_S:,} bytes/s", end="")
        if nvitop is not None:
            ratio, share = mine.first_s / nvitop.first_s, mine.cpu / max(nvitop.cpu, 1e-9)
            kept = kept and ratio <= FIRST_RATIO and share <= 1
            print(f"; first frame {ratio:.2f} of nvitop's (limit {FIRST_RATIO})", end="")
            print(f"; CPU {share:.2f} of nvitop's (limit 1)", end="")
        print()
    return kept


def still(folder: Path, nvml: dict[str, str]) -> bool:
    """Bytes while no figure moves; whether there are none."""
    viewer = Viewer("still", ours(folder / "nothing"), {**nvml, "FAKE_NVML_STILL": "1"})
    with terminal_of(viewer) as terminal:
        terminal.wait_for("8 GPUs")
        terminal.wait_quiet(2.0)
        found = terminal.bytes_during(5.0)
    print(f"when no figure moves: {found} bytes in 5 s (limit 0)")
    return found == 0


def keys(folder: Path, nvml: dict[str, str], lag_s: float) -> bool:
    """Milliseconds from a key to its answer, while every call to the driver takes so long; whether all of
    them kept the limit."""
    lag = {"FAKE_NVML_LAG_US": str(int(lag_s * 1e6))}
    with terminal_of(Viewer("keys", ours(folder / "rings"), {**nvml, **lag})) as terminal:
        terminal.wait_for("running")
        terminal.bytes_during(2.0)
        times = []
        for _ in range(KEYS):
            start, mark = time.perf_counter(), terminal.send(b"g")
            terminal.wait_until(partial(is_answered, terminal, mark), "an answer")
            times.append((time.perf_counter() - start) * 1e3)
            terminal.bytes_during(0.3)
    times.sort()
    print(
        f"a key while the driver takes {lag_s} s a call: {statistics.median(times):.0f} ms,"
        f" {times[int(KEYS * 0.9)]:.0f} at 90 %, {times[-1]:.0f} at most (limit {KEY_MS})"
    )
    return times[-1] <= KEY_MS


def is_answered(terminal: PseudoTerminal, mark: int) -> bool:
    """Whether anything has come since."""
    return len(terminal.output) > mark


@contextmanager
def job(folder: Path) -> Iterator[None]:
    """Eight ranks, one on each GPU, that publish twice a second in a thread of this process."""
    directory = open_directory(str(folder), create=True)
    rings = [
        create_ring(
            directory, header_of(rank, GPUS, device_type="cuda", device_index=rank, device_uuid=uuid(rank))
        )
        for rank in range(GPUS)
    ]
    os.close(directory)
    over = threading.Event()

    def publish() -> None:
        step = 0
        while not over.wait(0.5):
            step += 1
            for rank, ring in enumerate(rings):
                figures = figures_of(rank, step)
                ring.put(record(Kind.STEP, {**figures, "counted_at_step": step}))
                ring.put(record(Kind.SAMPLE, figures))

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for ring in rings:
            ring.close()


def uuid(gpu: int) -> str:
    """As the made-up library writes it."""
    return f"GPU-{gpu:08d}-0000-4000-8000-000000000000"


def figures_of(rank: int, step: int) -> dict[str, int]:
    """An allocator that moves a little from step to step."""
    active = (24 + (step + rank) % 4) * GIB
    return {
        "step": step, "step_ns": 480_000_000 + (step * 7 + rank) % 20 * 1_000_000, "allocated": active,
        "reserved": 30 * GIB, "active": active, "inactive_split": GIB, "allocated_peak_seen": 28 * GIB,
        "driver_free": 40 * GIB, "driver_total": 80 * GIB, "weights_device": 6 * GIB,
        "gradients_device": 6 * GIB * (step % 2), "optimizer_device": 12 * GIB,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
