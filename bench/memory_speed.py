"""What a memory budget costs: one plan again and again, plans that differ, a million GPUs, the solvers.

    python bench/memory_speed.py [--rounds 200]

Limits: 1 ms median for the budget of Llama 3.1 405B at pp 16, also where every call brings another plan, a
million GPUs at most 1.5 times eight, 100 ms for each solver, also where it is the first call of a process
that has imported what it needs. Exit code 1 when one is not kept. Processor time is counted, so that other
work on the machine does not.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.fixes import fixes
from scaletui_engine.memory.solve import fewest_gpus, largest_micro_batch, longest_seq
from scaletui_engine.plan import Recompute, Split, Strategy
from scaletui_engine.runtime import Lora

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario

BUDGET_LIMIT_MS, RATIO_LIMIT, SOLVER_LIMIT_MS = 1.0, 1.5, 100.0
LARGE = Choices(
    "llama3.1-405b", "h100-sxm", 16384, tp=8, pp=16, layer_split=Split.ENDS, seq=8192, global_batch=2048,
    recompute=Recompute.FULL,
)  # fmt: skip
SMALL = Choices("llama3.1-8b", "h100-sxm", 8)
BUBBLES = replace(LARGE, schedule="zb-v", chunks=2)
"""The same large plan in a schedule whose peaks are simulated."""
SIZES: Final = {"8B": SMALL, "405B": LARGE, "405B in zb-v": BUBBLES}
SOLVERS: Final = (largest_micro_batch, longest_seq, fewest_gpus, fixes)
SIMULATOR: Final = (
    "schedule.activations", "schedule.orders.request", "schedule.registry", "schedule.shape",
    "schedule.simulate",
)  # fmt: skip
"""What a plan whose peaks are simulated brings besides, numpy among it."""


def milliseconds(work: Callable[[Scenario], object], scenario: Scenario) -> float:
    """Processor time of one call."""
    begin = time.process_time()
    work(scenario)
    return (time.process_time() - begin) * 1e3


def median_ms(scenarios: list[Scenario]) -> float:
    """Median over the budgets of these scenarios, the first evaluated once before."""
    evaluate(scenarios[0])
    return statistics.median(milliseconds(evaluate, scenario) for scenario in scenarios)


EDITS: Final[dict[str, Callable[[Plan, int], Plan]]] = {
    "seq": lambda plan, step: replace(plan, seq=plan.seq + 64 * step),
    "optimizer": lambda plan, step: replace(plan, seq=plan.seq + 64 * step, optimizer="adam8bit"),
    "recompute": lambda plan, step: replace(plan, seq=plan.seq + 64 * step, recompute=Recompute.SELECTIVE),
    "ZeRO-1": lambda plan, step: replace(plan, seq=plan.seq + 64 * step, strategy=Strategy.ZERO1),
    "LoRA rank": lambda plan, step: replace(plan, lora=Lora(rank=step, targets=("wq", "wv"))),
}
"""Plans that differ at every step; the last one cuts every tensor anew as well."""


def edited_ms(scenario: Scenario, rounds: int) -> dict[str, float]:
    """Median by edit: no two plans are equal, so nothing of one budget serves the next."""
    steps = range(1, rounds + 1)
    return {
        name: median_ms([scenario.with_plan(edit(scenario.plan, step)) for step in steps])
        for name, edit in EDITS.items()
    }


def first_ms(solver: str, size: str) -> float:
    """Processor time of the first call of a solver in a process of its own, imports aside."""
    command = [sys.executable, __file__, "--first", solver, size]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_first(solver: str, size: str) -> int:
    """What `first_ms` reads, in the process of its own."""
    for name in SIMULATOR:
        importlib.import_module(f"scaletui_engine.{name}")
    work = next(work for work in SOLVERS if work.__name__ == solver)
    print(milliseconds(work, scenario_from(SIZES[size])))
    return 0


def first_calls() -> float:
    """Print the first calls; the slowest of them."""
    slowest = 0.0
    for work in SOLVERS:
        took = {size: first_ms(work.__name__, size) for size in SIZES}
        slowest = max(slowest, *took.values())
        print(f"first {work.__name__} of a process: {shown(took)} ms (limit {SOLVER_LIMIT_MS:g})")
    return slowest


def shown(medians: dict[str, float]) -> str:
    """The medians by edit in one line."""
    return ", ".join(f"{name} {took:.3f}" for name, took in medians.items())


def main() -> int:
    """Measure and print; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--first", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        return print_first(*options.first)
    rounds = options.rounds
    large, small = scenario_from(LARGE), scenario_from(SMALL)
    million = scenario_from(replace(SMALL, gpus=1 << 20))
    budget = median_ms([large] * rounds)
    eight, many = median_ms([small] * rounds), median_ms([million] * rounds)
    print(f"budget of 405B at pp 16: {budget:.3f} ms (limit {BUDGET_LIMIT_MS:g})")
    edits = edited_ms(large, rounds)
    print(f"the same, edited each time: {shown(edits)} ms (limit {BUDGET_LIMIT_MS:g})")
    print(f"budget of 8B: {eight:.3f} ms, edited each time: {shown(edited_ms(small, rounds))} ms")
    print(f"a million GPUs over eight: {many / eight:.2f} (limit {RATIO_LIMIT:g})")
    solvers = {
        solve.__name__: max(milliseconds(solve, scenario) for scenario in (small, large)) for solve in SOLVERS
    }
    for name, took in solvers.items():
        print(f"solver {name}: {took:.1f} ms (limit {SOLVER_LIMIT_MS:g})")
    slowest = max(budget, *edits.values())
    quick = slowest <= BUDGET_LIMIT_MS and max(first_calls(), *solvers.values()) <= SOLVER_LIMIT_MS
    return 0 if quick and many / eight <= RATIO_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
