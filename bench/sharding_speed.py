"""What the sharding engine costs on Llama 3.1 405B and 16,384 GPUs, and its ratio to torch's own arithmetic.

    python bench/sharding_speed.py [--rounds 30]

Limits: all slices of all tensors of one rank 20 ms, the traffic table 20 ms, an element 5 ms (50 ms the
first time in a flat buffer), 200 MB, and at least 10 times faster than torch over the same parameters of the
same rank in the same run (where torch is installed). Exit code 1 when one is not kept. Processor time is
counted, so that other work on the machine does not; the first call is counted too, with nothing remembered.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import statistics
import sys
import time
from typing import TYPE_CHECKING

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.plan import Split
from scaletui_engine.scenarios.shipped import load_scenario
from scaletui_engine.sharding import flat_shares as shares
from scaletui_engine.sharding import rank_view as views
from scaletui_engine.sharding import tensor_map as maps
from scaletui_engine.sharding.holders import holders
from scaletui_engine.sharding.names import parameter
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.rank_view import rank_view
from scaletui_engine.sharding.traffic.table import traffic

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario

SLICES_MS, TRAFFIC_MS, HOLDERS_MS, HOLDERS_FIRST_MS = 20.0, 20.0, 5.0, 50.0
MEMORY_MB, RATIO = 200.0, 10.0
MODEL, GPU, GPUS = "llama3.1-405b", "h100-sxm", 16384
PIPELINED = Choices(MODEL, GPU, GPUS, tp=8, pp=16, layer_split=Split.ENDS, seq=8192, global_batch=2048)
WHOLE = Choices(MODEL, GPU, GPUS, tp=8, seq=8192)
"""All 126 layers on every rank: 1,137 parameters."""
FLAT = Choices(MODEL, GPU, GPUS, seq=8192)
"""FSDP alone: torch's fastest case, with no strided shards."""


def milliseconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e3


def forget() -> None:
    """Nothing of an earlier call serves the next."""
    for cached in (maps._map, views.stage_parameters, shares.units_of):
        cached.cache_clear()


def all_slices(scenario: Scenario, rank: int) -> int:
    """Every parameter of every layer by name, with its slices."""
    return sum(1 for _, row in rank_view(scenario, rank).expanded() if row.region)


def torch_slices(scenario: Scenario, rank: int) -> int:
    """The same through torch, one call a parameter."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset
    from torch.distributed.tensor.placement_types import _StridedShard

    count = 0
    for _, row in rank_view(scenario, rank).expanded():
        layout = maps.tensor_map(scenario, row.tensor, Part.WEIGHTS).declared
        inner = rank % layout.mesh.world
        placements = [
            Replicate() if not each.cuts
            else Shard(each.dim) if each.factor == 1
            else _StridedShard(each.dim, split_factor=each.factor)
            for each in layout.placements
        ]  # fmt: skip
        _compute_local_shape_and_global_offset(
            layout.shape, layout.mesh.shape, list(layout.mesh.coordinate(inner)), placements
        )
        count += 1
    return count


def measured(scenario: Scenario, rounds: int, ranks: list[int]) -> tuple[float, float]:
    """(first call, median over ranks) of all slices."""
    forget()
    first = milliseconds(lambda: all_slices(scenario, ranks[0]))
    later = [milliseconds(lambda rank=rank: all_slices(scenario, rank)) for rank in ranks[:rounds]]
    return first, statistics.median(later)


def main() -> int:
    """Measure and print; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    pipelined, whole = scenario_from(PIPELINED), scenario_from(WHOLE)
    ranks = [rank * 541 % GPUS for rank in range(rounds)]
    results = []
    for name, scenario in (("pp 16", pipelined), ("126 layers a rank", whole)):
        first, later = measured(scenario, rounds, ranks)
        count = all_slices(scenario, ranks[0])
        results.append(
            (f"slices of {count} parameters, {name}: first {first:.2f} ms, then", later, SLICES_MS)
        )
    forget()
    results.append(("traffic table, first time", milliseconds(lambda: traffic(pipelined)), TRAFFIC_MS))
    named = parameter(pipelined.model.arch, "layers.31.feed_forward.w1")
    asked = [milliseconds(lambda: list(holders(pipelined, named, (12345, 678)))) for _ in range(rounds)]
    results.append(("who holds an element", statistics.median(asked), HOLDERS_MS))
    spread = load_scenario("deepseek-v3-2048")
    asked = parameter(spread.model.arch, "layers.31.attention.wq_b")
    flat = milliseconds(lambda: list(holders(spread, asked, (12345, 678), Part.OPTIMIZER)))
    results.append(("who holds an element of a buffer on 2,048 GPUs, first time", flat, HOLDERS_FIRST_MS))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kept = memory < MEMORY_MB
    for name, value, limit in results:
        print(f"{name} {value:.2f} ms (limit {limit:g})")
        kept = kept and value < limit
    print(f"memory {memory:.0f} MB (limit {MEMORY_MB:g})")
    if importlib.util.find_spec("torch") is not None:
        torch_slices(scenario_from(Choices("llama3-8b", GPU, 8)), 0)
        kept = faster("FSDP alone", scenario_from(FLAT), ranks[0]) and kept
        kept = faster("FSDP and TP", pipelined, ranks[0]) and kept
    return 0 if kept else 1


def faster(name: str, scenario: Scenario, rank: int) -> bool:
    """Whether the engine is so many times faster than torch."""
    theirs = milliseconds(lambda: torch_slices(scenario, rank))
    ours = statistics.median(milliseconds(lambda: all_slices(scenario, rank)) for _ in range(5))
    print(
        f"{name}: torch {theirs:.1f} ms, engine {ours:.2f} ms: {theirs / ours:.0f} times (at least {RATIO:g})"
    )
    return theirs / ours >= RATIO


if __name__ == "__main__":
    sys.exit(main())
