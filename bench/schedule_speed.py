"""How fast schedules are simulated, beside PyTorch's own dry run of the same schedule in the same process.

Usage: python bench/schedule_speed.py [--rounds N]. Rounds alternate, the best of each side counts; ratios
hold on any machine, seconds are those of this one. PyTorch's `_simulate_comms_compute` knows unit steps
and messages only, so it gets the lowered order without FSDP actions; ours gives starts, ends and makespan.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine"))

import numpy as np

from scaletui_engine.schedule.explore.around import Around, around, cell_at
from scaletui_engine.schedule.explore.chart import Chart, chart_of
from scaletui_engine.schedule.explore.window import Window, actions_in, density, whole
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build
from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule

THREE_KINDS = Request("zb-h1", Shape(32, 256))
LARGE = Request("Interleaved1F1B", Shape(64, 1024, 2))
FULL_S, LARGE_S, LARGE_MB, ANSWER_MS, RATIO = 0.12, 2.0, 500, 50.0, 4.0


def seconds(do: Callable[[], object]) -> float:
    """One run, in processor time: what else the machine does is not ours."""
    start = time.process_time()
    do()
    return time.process_time() - start


def torch_dry_run(schedule: Schedule) -> Callable[[], object]:
    """PyTorch's simulation of a schedule's lowered order."""
    from torch.distributed.pipelining.schedules import _Action, _simulate_comms_compute

    lowered = lower(schedule, Passes(fsdp=False))
    order: dict[int, list[Any]] = {
        rank: [_Action.from_str(cell) for cell in line.split(",")]
        for rank, line in enumerate(csv_lines(lowered))
    }
    home = [ranks[0] for ranks in schedule.placement.ranks_of]
    return lambda: _simulate_comms_compute(order, home.__getitem__, schedule.stages)


def scrub(chart: Chart, time: float) -> Around:
    """What a screen shows of the action under the cursor."""
    return around(chart, max(0, cell_at(chart, 31, time)))


def report(name: str, value: float, unit: str, bound: float, at_least: bool = False) -> bool:
    """One line; whether it keeps to its bound."""
    holds = value >= bound if at_least else value <= bound
    sign = ">=" if at_least else "<="
    print(f"{'ok  ' if holds else 'OVER'} {name:<58} {value:9.3f} {unit}  ({sign} {bound:g})")
    return holds


def against_torch(rounds: int) -> list[bool]:
    """p 32, m 256, F, I and W."""
    schedule = build(THREE_KINDS)
    theirs = torch_dry_run(schedule)
    alone, full, dry = [], [], []
    for _ in range(rounds):
        alone.append(seconds(lambda: simulate(schedule)))
        full.append(seconds(lambda: evaluate(build(THREE_KINDS))))
        dry.append(seconds(theirs))
    print(f"     {schedule.actions} actions; PyTorch's dry run {min(dry):.3f} s")
    return [
        report("p 32, m 256, F I W: order and full result", min(full), "s", FULL_S),
        report(
            "p 32, m 256, F I W: PyTorch's dry run over ours",
            min(dry) / min(alone),
            "x",
            RATIO,
            at_least=True,
        ),
    ]


def large(rounds: int) -> list[bool]:
    """p 64, m 1024, 2 chunks: everything, its memory, and what a screen asks of it."""
    took = [seconds(lambda: evaluate(build(LARGE))) for _ in range(rounds)]
    timeline = evaluate(build(LARGE)).timeline
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    chart, middle = chart_of(timeline), timeline.makespan / 2
    windows = (whole(chart, 200), Window(middle, middle + 200, 200))
    zooms = [
        seconds(partial(ask, chart, window))
        for window in windows
        for ask in (density, actions_in)
        for _ in range(rounds)
    ]
    times = np.linspace(0, timeline.makespan, 4 * rounds, endpoint=False).tolist()
    scrubs = [seconds(partial(scrub, chart, time)) for time in times]
    return [
        report("p 64, m 1024, v 2: order and full result", min(took), "s", LARGE_S),
        report("p 64, m 1024, v 2: memory of the process", peak_mb, "MB", LARGE_MB),
        report("p 64, m 1024, v 2: slowest zoom, 200 columns", max(zooms) * 1e3, "ms", ANSWER_MS),
        report("p 64, m 1024, v 2: slowest scrub", max(scrubs) * 1e3, "ms", ANSWER_MS),
    ]


def main() -> int:
    """0 when every bound holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    rounds = parser.parse_args().rounds
    # The large one comes first: torch would count as its memory.
    return 0 if all([*large(rounds), *against_torch(rounds)]) else 1


if __name__ == "__main__":
    sys.exit(main())
