"""What the probe costs a training job: import, a put, processor time, and the ratio of step times.

    python bench/probe_cost.py [--rounds 40] [--block 1.5]

Limits: import 5 ms, a put 10 microseconds, thread and hooks 0.5 percent of the wall time, and a ratio of step
times whose 95 percent interval begins at 1.01 or below. Of import and put the quickest tenth counts: the rest
waits for other programs. Exit code 1 when a limit is not kept.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
IMPORT_LIMIT_MS, PUT_LIMIT_US, CPU_LIMIT_PERCENT, RATIO_LIMIT = 5.0, 10.0, 0.5, 1.01
IMPORT = """
import time; begin = time.perf_counter()
import scaletui_probe.arming; scaletui_probe.arming.arm()
print((time.perf_counter() - begin) * 1e3)
"""


def import_ms(runs: int = 15) -> list[float]:
    """Milliseconds that importing and arming take in fresh interpreters."""
    words = [sys.executable, "-c", IMPORT]
    return [
        float(subprocess.run(words, capture_output=True, text=True, check=True).stdout) for _ in range(runs)
    ]


def put_us(batches: int = 400, puts: int = 50) -> list[float]:
    """Microseconds a put takes, mean of each batch: making the record, encoding and writing it."""
    from scaletui_probe.directory import open_directory
    from scaletui_probe.header import Header
    from scaletui_probe.layout import HEADER_FIELDS, MEASURES, Kind, Mode
    from scaletui_probe.record import Measures, Record
    from scaletui_probe.ring import create_ring

    texts = {field.name: field.code.endswith("s") for field in HEADER_FIELDS}
    fields: dict[str, Any] = {name: "" if texts[name] else 1 for name in Header._fields}
    measures = Measures()
    measures.put(dict.fromkeys(MEASURES, 2**35))
    with tempfile.TemporaryDirectory() as folder:
        ring = create_ring(open_directory(folder), Header(**{**fields, "mode": Mode.THREAD}))
        return [
            _batch(lambda: ring.put(Record(Kind.STEP, 1, 1, measures.copy())), puts) for _ in range(batches)
        ]


def _batch(put: Any, puts: int) -> float:
    begin = time.perf_counter()
    for _ in range(puts):
        put()
    return (time.perf_counter() - begin) / puts * 1e6


def job(rounds: int, block_s: float) -> list[dict[str, Any]]:
    """What each of two ranks of a real FSDP2 job measured."""
    with tempfile.TemporaryDirectory() as folder:
        rings = Path(folder) / "rings"
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        work = [str(HERE / "probe_cost_job.py"), str(rounds), str(block_s), folder]
        run = [sys.executable, "-m", "scaletui", "run", "--dir", str(rings), "--"]
        environ = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run([*run, *launcher, *work], env=environ, check=True)
        return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("rank*.json"))]


def ratio(above: list[float], below: list[float]) -> tuple[float, float, float]:
    """Geometric mean of the pairs' ratios and its 95 percent interval (normal, on logarithms)."""
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    middle = statistics.fmean(logs)
    half = 1.96 * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def report_job(ranks: list[dict[str, Any]]) -> bool:
    """Print what the job measured; whether it keeps the limits."""
    seconds = ranks[0]["seconds"]
    step_ms = statistics.median(seconds["off"]) / ranks[0]["steps"] * 1e3
    rounds = f"{len(seconds['on'])} rounds of {ranks[0]['steps']} steps"
    print(f"job: 2 ranks of FSDP2, step {step_ms:.1f} ms, {rounds}")
    kept = True
    for name, above in (("on / off", "on"), ("off again / off (noise)", "off again")):
        middle, low, high = ratio(seconds[above], seconds["off"])
        print(f"step time {name}: {middle:.4f}, 95 % interval {low:.4f} to {high:.4f}")
        kept = kept and (above != "on" or low <= RATIO_LIMIT)
    for rank, found in enumerate(ranks):
        wall_s = sum(found["seconds"]["on"])
        hooks, thread = (found[key] / wall_s * 100 for key in ("hooks_s", "thread_s"))
        print(f"rank {rank}: hooks {hooks:.3f} % + thread {thread:.3f} % of the wall time")
        kept = kept and hooks + thread <= CPU_LIMIT_PERCENT
    return kept


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--block", type=float, default=1.5, metavar="SECONDS")
    asked = parser.parse_args()
    imports, puts = import_ms(), put_us()
    import_cost, put_cost = (statistics.quantiles(values, n=10)[0] for values in (imports, puts))
    print(f"import and arm: {import_cost:.2f} ms (median {statistics.median(imports):.2f})")
    print(f"put: {put_cost:.2f} us (median {statistics.median(puts):.2f})")
    kept = report_job(job(asked.rounds, asked.block))
    kept = kept and import_cost <= IMPORT_LIMIT_MS and put_cost <= PUT_LIMIT_US
    print("all limits kept" if kept else "a limit is not kept")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
