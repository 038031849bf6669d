"""What a step of the collective player costs with a group of 128 ranks, on real pseudo-terminals.

    python bench/sharding_player.py [--keys 20]

Limits: 50 ms of processor time from the key of a step to the last byte of its answer, 4 KB a frame at 80x24
and 8 KB at 200x50. While it plays, frames that come in a second stand beside their processor time. Exit code
1 when a limit is not kept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from sharding_screen import FRAME_BYTES, LIMIT_MS, answer, cpu_s
from terminal.pseudo_terminal import PseudoTerminal, Setup

PLAN = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "128", "--strategy", "ddp")
STEPS = {"ring all-reduce": b"", "recursive halving": b"a" * 2, "all-to-all": b"c" * 4}
"""What is played, and the keys that choose it."""
PLAYED_S = 3.0


def playing(terminal: PseudoTerminal) -> float:
    """Share of a core that playing takes."""
    before, start = cpu_s(terminal.process.pid), time.perf_counter()
    terminal.send(b" ")
    time.sleep(PLAYED_S)
    share = (cpu_s(terminal.process.pid) - before) / (time.perf_counter() - start)
    terminal.send(b" ")
    terminal.wait_quiet(0.3)
    return share


def measure(size: tuple[int, int], keys: int, folder: str) -> bool:
    """Print one terminal's figures; whether every limit is kept."""
    command = [sys.executable, "-m", "scaletui", "sharding", *PLAN]
    kept = True
    print(f"{size[0]}x{size[1]}")
    for name, chosen in STEPS.items():
        with PseudoTerminal(command, Setup(*size, {"SCALETUI_DIR": folder})) as terminal:
            terminal.wait_for("node 0")
            terminal.wait_quiet(1.0)
            for key in (b"c", *(chosen[place : place + 1] for place in range(len(chosen)))):
                terminal.send(key)
                terminal.wait_quiet(0.5)
            costs = [answer(terminal, b".") for _ in range(keys)]
            cpu, largest = statistics.median(c.cpu_ms for c in costs), max(c.largest for c in costs)
            kept = kept and cpu < LIMIT_MS and largest <= FRAME_BYTES[size]
            print(
                f"  {name:<18} processor {cpu:5.1f} ms a step (limit {LIMIT_MS:g}),"
                f" largest frame {largest:,} bytes (limit {FRAME_BYTES[size]:,}),"
                f" playing {playing(terminal):.0%} of a core"
            )
    return kept


def main() -> int:
    """Measure two terminals; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=20, metavar="N", help="steps of each collective (20)")
    keys = parser.parse_args().keys
    os.environ.pop("SCALETUI_DIR", None)
    with tempfile.TemporaryDirectory() as folder:
        kept = [measure(size, keys, folder) for size in FRAME_BYTES]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
