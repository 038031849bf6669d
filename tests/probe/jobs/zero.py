"""A DeepSpeed job that counts its own memory and knows nothing of scaletui.

Usage: zero.py OUT STAGE DTYPE [SETTINGS], under torchrun, with DS_ACCELERATOR=cpu; SETTINGS are JSON, of
`zero_optimization` but for `gradient_accumulation_steps` and `data_types`. Gradients are whatever the garbage
collector finds in the step hook beyond weights, copies, optimizer state, reduce buckets and the batch.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

import deepspeed
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

STEPS, WIDTH = 3, 170
OUTER = ("gradient_accumulation_steps", "data_types")


def storages(tensors) -> dict[int, int]:
    return {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}


def alive() -> dict[int, int]:
    """The storages of every tensor of numbers that the interpreter knows, but for scalars."""
    tensors = [o for o in gc.get_objects() if issubclass(type(o), torch.Tensor)]
    return storages(t for t in tensors if t.is_floating_point() and t.dim() and t.device.type == "cpu")


class Count:
    """What one rank holds, by looking at the engine's own objects."""

    def __init__(self, engine, stage: int) -> None:
        self.zero, self.stage = engine.optimizer, stage
        self.parameters = list(engine.module.parameters())
        self.batch: list[torch.Tensor] = []
        self.gradients = self.calls = 0

    def weights(self) -> dict[int, int]:
        if self.stage < 3:
            return storages(self.parameters)
        kept = [(p.ds_tensor, p.ds_secondary_tensor) for p in self.parameters]
        return storages(tensor for pair in kept for tensor in pair if tensor is not None)

    def unsharded(self) -> dict[int, int]:
        return storages(self.parameters) if self.stage == 3 else {}

    def masters(self) -> dict[int, int]:
        name = "fp32_partitioned_groups_flat" if self.stage == 3 else "single_partition_of_fp32_groups"
        return storages(getattr(self.zero, name))

    def moments(self) -> dict[int, int]:
        state = self.zero.optimizer.state.values()
        return storages(value for entry in state for value in entry.values() if torch.is_tensor(value))

    def buckets(self) -> dict[int, int]:
        found = [bucket.buffer for bucket in self.zero.ipg_buckets.values()]
        flat = [t for item in found if item is not None for t in (item if isinstance(item, list) else [item])]
        return storages(flat)

    def before(self, optimizer, _arguments, _named) -> None:
        self.calls += 1
        if self.calls % 2:
            parts = (self.weights(), self.unsharded(), self.masters(), self.moments(), self.buckets())
            known = set().union(*parts, storages(self.batch))
            self.gradients = sum(size for at, size in alive().items() if at not in known)


def main(out: Path, stage: int, dtype: str, settings: dict) -> None:
    outer = {name: settings.pop(name) for name in OUTER if name in settings}
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(WIDTH, 310), nn.Linear(310, WIDTH), nn.Linear(WIDTH, 1))
    decayed = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() < 2]
    groups = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    engine, *_ = deepspeed.initialize(
        model=net,
        optimizer=torch.optim.AdamW(groups, lr=1e-3),
        config={
            "train_micro_batch_size_per_gpu": 2,
            **outer,
            "bf16": {"enabled": dtype == "bfloat16"},
            "zero_optimization": {
                "stage": stage, "stage3_param_persistence_threshold": 200, "reduce_bucket_size": 100_000,
                **settings,
            },
        },
    )  # fmt: skip
    count = Count(engine, stage)
    register_optimizer_step_pre_hook(count.before)
    for _ in range(STEPS * outer.get("gradient_accumulation_steps", 1)):
        batch = torch.randn(2, WIDTH, dtype=getattr(torch, dtype))
        loss = engine(batch).float().sum()
        count.batch = [batch, loss]
        engine.backward(loss)
        engine.step()
    found = {
        "pid": os.getpid(), "step": STEPS, "gradients": count.gradients,
        "weights": sum(count.weights().values()), "master_weights": sum(count.masters().values()),
        "optimizer": sum(count.moments().values()),
        "unsharded_weights": sum(count.unsharded().values()),
    }  # fmt: skip
    (out / f"rank{os.environ['RANK']}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]) if sys.argv[4:] else {})
