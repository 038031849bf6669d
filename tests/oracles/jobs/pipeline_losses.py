"""Trains a small model over two gloo ranks, once a schedule, and writes the losses: RANK STORE ORDERS OUT.

ORDERS is a folder of CSV files and of .class files, whose name is one of PyTorch's schedule classes;
the first line of each is "chunks microbatches".
"""

from __future__ import annotations

import json
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import (
    PipelineScheduleSingle,
    _PipelineScheduleRuntime,
    get_schedule_class,
)

RUNTIME: Any = _PipelineScheduleRuntime
"""Has no annotations of its own."""
LAYERS, WIDTH, ROWS, STEPS, RATE = 8, 8, 16, 3, 0.5


def layers() -> list[torch.nn.Module]:
    """The same eight layers every time, a seed each."""
    made: list[torch.nn.Module] = []
    for index in range(LAYERS):
        torch.manual_seed(index)
        made.append(torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()))
    return made


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets."""
    torch.manual_seed(100)
    return torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH)


def stages(indices: list[int], count: int) -> tuple[list[PipelineStage], torch.nn.ModuleList]:
    """This rank's stages, and their modules."""
    made, each = layers(), LAYERS // count
    modules = [torch.nn.Sequential(*made[i * each : (i + 1) * each]) for i in indices]
    device = torch.device("cpu")
    held = [PipelineStage(module, i, count, device) for module, i in zip(modules, indices, strict=True)]
    return held, torch.nn.ModuleList(modules)


def schedule_of(path: Path, rank: int) -> tuple[Any, torch.nn.ModuleList, tuple[bool, bool]]:
    """The schedule, this rank's modules, and whether it holds the first and the last stage."""
    head, *rows = path.read_text().splitlines()
    chunks, microbatches = map(int, head.split())
    count = 2 * chunks
    loss = torch.nn.MSELoss()
    if path.suffix == ".class":
        vee = path.stem in ("ZBVZeroBubble", "DualPipeV")
        indices = [rank, count - 1 - rank] if vee else list(range(rank, count, 2))
        held, modules = stages(indices, count)
        cls = get_schedule_class(path.stem)
        single = issubclass(cls, PipelineScheduleSingle)
        made: Any = cls(held[0] if single else held, microbatches, loss_fn=loss)
    else:
        indices = sorted({int(found) for found in re.findall(r"(\d+)F\d", rows[rank])})
        held, modules = stages(indices, count)
        made = RUNTIME(held, microbatches, loss_fn=loss)
        order = path.with_suffix(f".{rank}.rows")
        order.write_text("\n".join(rows) + "\n")
        made._load_csv(str(order), format="compute_only")
    return made, modules, (0 in indices, count - 1 in indices)


def train(path: Path, rank: int) -> list[float]:
    """The loss of every step, empty on a rank without the last stage."""
    made, modules, (first, last) = schedule_of(path, rank)
    inputs, target = batch()
    found: list[float] = []
    optimizer = torch.optim.SGD(modules.parameters(), lr=RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        losses: list[torch.Tensor] = []
        arguments = (inputs,) if first else ()
        made.step(*arguments, **({"target": target, "losses": losses} if last else {}))
        optimizer.step()
        if last:
            found.append(float(torch.stack(losses).mean()))
    return found


def main() -> None:
    """Run every file of the folder, in the order of their names."""
    rank, store, orders, out = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=2, timeout=timedelta(seconds=240)
    )
    losses = {
        path.name: train(path, rank) for path in sorted(orders.iterdir()) if path.suffix in (".csv", ".class")
    }
    (out / f"{rank}.json").write_text(json.dumps(losses))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
