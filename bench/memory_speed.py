"""What a memory budget costs: one plan again and again, plans that differ, a million GPUs, the solvers.

    python bench/memory_speed.py [--rounds 200]

Limits: 1 ms median for the budget of Llama 3.1 405B at pp 16, also where every call brings another plan, a
million GPUs at most 1.5 times eight, 100 ms for each solver. Exit code 1 when one is not kept. Processor time
is counted, so that other work on the machine does not.
"""

from __future__ import annotations

import argparse
import statistics
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


def shown(medians: dict[str, float]) -> str:
    """The medians by edit in one line."""
    return ", ".join(f"{name} {took:.3f}" for name, took in medians.items())


def main() -> int:
    """Measure and print; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
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
        solve.__name__: max(milliseconds(solve, scenario) for scenario in (small, large))
        for solve in (largest_micro_batch, longest_seq, fewest_gpus, fixes)
    }
    for name, took in solvers.items():
        print(f"solver {name}: {took:.1f} ms (limit {SOLVER_LIMIT_MS:g})")
    slowest = max(budget, *edits.values())
    quick = slowest <= BUDGET_LIMIT_MS and max(solvers.values()) <= SOLVER_LIMIT_MS
    return 0 if quick and many / eight <= RATIO_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
