"""The job of `probe_cost.py`: two ranks of FSDP2 that train in blocks of steps, with and without the probe.

Usage: probe_cost_job.py ROUNDS BLOCK_S OUT, under `scaletui run -- torchrun`. Every round has three blocks in
a random order: "on", "off" and "off again", so that the noise of the machine is measured beside the probe.
Switching takes the probe's hooks out of PyTorch and ends its thread; it happens between blocks, outside the
time that counts.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.optim import optimizer as torch_optimizer

WIDTH, LAYERS, VOCABULARY, BATCH, TOKENS = 128, 4, 1000, 4, 64
WARM_UP = 10


class Block(nn.Module):
    """Attention and a feed-forward layer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> Any:
        """x: [batch, tokens, width]."""
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


class Head(nn.Linear):
    """The scores of every word; not a view, which FSDP2 warns of."""

    def __init__(self) -> None:
        super().__init__(WIDTH, VOCABULARY)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: [batch, tokens, width]."""
        return super().forward(x).clone()


class Training:
    """A sharded model, its optimizer and its data."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        blocks = [Block() for _ in range(LAYERS)]
        self.model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), *blocks, Head())
        for block in blocks:
            fully_shard(block)
        fully_shard(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.tokens = torch.randint(0, VOCABULARY, (BATCH, TOKENS))

    def steps(self, number: int) -> float:
        """Train and return the seconds it took."""
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(number):
            scores = self.model(self.tokens).flatten(0, 1)
            torch.nn.functional.cross_entropy(scores, self.tokens.flatten()).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        return time.perf_counter() - begin


class Probe:
    """The probe of this process, to be taken out and put back; counts the processor time it uses."""

    def __init__(self) -> None:
        from scaletui_probe import hooks

        agent = hooks.HOOKS.agent if hooks.HOOKS is not None else None
        assert agent is not None
        self.agent = agent
        self.hooks_s = 0.0
        self.thread_s = 0.0
        self._tables = (
            torch_optimizer._global_optimizer_pre_hooks,
            torch_optimizer._global_optimizer_post_hooks,
        )
        self._kept = [{key: self._timed(hook) for key, hook in table.items()} for table in self._tables]
        self._sampler: Any = next(t for t in threading.enumerate() if t.name == "scaletui-probe")
        self._clock = time.pthread_getcpuclockid(self._sampler.ident)

    def _timed(self, hook: Any) -> Any:
        def timed(*arguments: Any) -> None:
            begin = time.thread_time()
            hook(*arguments)
            self.hooks_s += time.thread_time() - begin

        return timed

    def take_out(self) -> None:
        self.thread_s += time.clock_gettime(self._clock)
        self._sampler.stop()
        for table in self._tables:
            table.clear()

    def put_back(self) -> None:
        from scaletui_probe.lifecycle import Sampler

        for table, kept in zip(self._tables, self._kept, strict=True):
            table.update(kept)
        self._sampler = Sampler(self.agent)
        self._sampler.start()
        self._clock = time.pthread_getcpuclockid(self._sampler.ident)


def agreed(number: float) -> int:
    """Rank 0's number, on every rank."""
    shared = torch.tensor([number])
    dist.broadcast(shared, 0)
    return int(shared.item())


def measure(training: Training, probe: Probe, rounds: int, block_s: float) -> dict[str, Any]:
    training.steps(WARM_UP)
    steps = max(3, agreed(block_s / (training.steps(WARM_UP) / WARM_UP)))
    probe.take_out()
    probe.hooks_s = probe.thread_s = 0.0
    order = random.Random(1)
    seconds: dict[str, list[float]] = {"on": [], "off": [], "off again": []}
    for _ in range(rounds):
        for name in order.sample(list(seconds), len(seconds)):
            if name == "on":
                probe.put_back()
            seconds[name].append(training.steps(steps))
            if name == "on":
                probe.take_out()
    return {"steps": steps, "seconds": seconds, "hooks_s": probe.hooks_s, "thread_s": probe.thread_s}


def main(rounds: int, block_s: float, out: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    training = Training()
    training.steps(1)
    found = measure(training, Probe(), rounds, block_s)
    (out / f"rank{os.environ['RANK']}.json").write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]))
