"""Processes that train in some particular way and know nothing of scaletui.

Usage: single.py OUT SCENARIO... Each scenario runs in a child that was forked before any step; its own count
goes to OUT/SCENARIO.json, and how the child ended to OUT/SCENARIO.end.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(7, 5), nn.BatchNorm1d(5), nn.Linear(5, 3))


def storage_bytes(tensors) -> int:
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def tensors_of(optimizer):
    for state in optimizer.state.values():
        for value in state.values():
            several = value if isinstance(value, list) else [value]
            yield from (tensor for tensor in several if torch.is_tensor(tensor))


def backward(net: nn.Module) -> torch.Tensor:
    loss = net(torch.randn(4, 7)).square().mean()
    loss.backward()
    return loss


def held_by(optimizers):
    return [p for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]]


def module_hooks() -> dict[str, int]:
    """How many hooks PyTorch has for all modules, by kind."""
    kinds = vars(nn.modules.module).items()
    return {
        name: len(found) for name, found in kinds if name.startswith("_global") and isinstance(found, dict)
    }


def report(steps: int, optimizers: list, gradients: int, **more: object) -> dict:
    return {
        "step": steps,
        "weights": storage_bytes(held_by(optimizers)),
        "gradients": gradients,
        "optimizer": storage_bytes(t for optimizer in optimizers for t in tensors_of(optimizer)),
        **more,
    }


def train(net: nn.Module, optimizers: list, steps: int = 3, after=lambda step: None) -> dict:
    gradients = 0
    for step in range(1, steps + 1):
        for optimizer in optimizers:
            optimizer.zero_grad()
        backward(net)
        gradients = storage_bytes(p.grad for p in net.parameters() if p.grad is not None)
        for optimizer in optimizers:
            optimizer.step()
        after(step)
    return report(steps, optimizers, gradients)


def plain() -> dict:
    net = model()
    threads = []
    found = train(
        net,
        [torch.optim.AdamW(net.parameters())],
        after=lambda step: threads.extend(t.name for t in threading.enumerate()),
    )
    return {**found, "sampler": "scaletui-probe" in threads, "module_hooks": module_hooks()}


def two_optimizers() -> dict:
    net = model()
    first, second = net[0].parameters(), [*net[1].parameters(), *net[2].parameters()]
    return train(net, [torch.optim.SGD(first, lr=0.1, momentum=0.9), torch.optim.AdamW(second, amsgrad=True)])


def one_per_parameter() -> dict:
    net = model()
    return train(net, [torch.optim.Adam([parameter]) for parameter in net.parameters()])


def frozen() -> dict:
    net = model()
    net[0].requires_grad_(False)
    return train(net, [torch.optim.AdamW(p for p in net.parameters() if p.requires_grad)])


def closure() -> dict:
    """L-BFGS keeps a history that grows with every step: two steps, which are always counted."""
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def evaluate():
        optimizer.zero_grad()
        return backward(net)

    for _ in range(2):
        evaluate()
        optimizer.step(evaluate)
    gradients = storage_bytes(p.grad for p in net.parameters())
    return report(2, [optimizer], gradients)


def master() -> dict:
    """Half-precision modules whose optimizer works on single-precision copies."""
    net = nn.Sequential(nn.Linear(7, 5), nn.Linear(5, 3)).to(torch.bfloat16)
    copies = [parameter.detach().float().requires_grad_() for parameter in net.parameters()]
    optimizer = torch.optim.AdamW(copies)
    for _ in range(3):
        net(torch.randn(4, 7, dtype=torch.bfloat16)).square().mean().backward()
        for copy, parameter in zip(copies, net.parameters(), strict=True):
            copy.grad, parameter.grad = parameter.grad.float(), None
        optimizer.step()
    gradients = storage_bytes(copy.grad for copy in copies)
    return report(3, [optimizer], gradients)


def exception() -> dict:
    def fail(step: int) -> None:
        if step == 2:
            raise KeyError("missing")

    net = model()
    return train(net, [torch.optim.AdamW(net.parameters())], after=fail)


def killed() -> dict:
    def kill(step: int) -> None:
        if step == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    net = model()
    return train(net, [torch.optim.AdamW(net.parameters())], steps=4, after=kill)


def workers() -> dict:
    """DataLoader workers are forked while the job trains."""
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    found = train(net, [optimizer])
    loader = torch.utils.data.DataLoader(list(range(8)), num_workers=4, multiprocessing_context="fork")
    batches = [batch.tolist() for batch in loader]
    return {**found, "batches": len(batches)}


def full_disk() -> dict:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    found = plain()
    return {"weights": found["weights"]}


def compiler_counts() -> dict:
    from torch._dynamo.utils import counters

    breaks = {reason.splitlines()[0]: count for reason, count in counters["graph_break"].items()}
    stats = counters["stats"]
    return {"graphs": stats["unique_graphs"], "calls": stats["calls_captured"], **breaks}


def compiled() -> dict:
    """Three steps as ever, then three compiled ones."""
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    forward = torch.compile(net, backend="eager")
    step = torch.compile(lambda: optimizer.step(), backend="eager")
    for index in range(6):
        optimizer.zero_grad()
        backward(forward)
        if index < 3:
            optimizer.step()
        else:
            step()
    return compiler_counts()


def compiled_forward() -> dict:
    """The usual: a compiled model and an optimizer that is not."""
    net = model()
    forward = torch.compile(net, backend="eager")
    found = train(forward, [torch.optim.AdamW(net.parameters())])
    return {**found, **compiler_counts()}


def compiled_whole() -> dict:
    """The whole training step is one compiled function, from the first step on."""
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())

    @torch.compile(backend="eager")
    def step(batch: torch.Tensor) -> None:
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()

    for _ in range(4):
        step(torch.randn(4, 7))
    return compiler_counts()


def run_all(out: Path, scenarios: list[str]) -> None:
    for scenario in scenarios:
        child = os.fork()
        if not child:
            counted = globals()[scenario]()
            (out / f"{scenario}.json").write_text(json.dumps({**counted, "pid": os.getpid()}))
            return
        _, status = os.waitpid(child, 0)
        end = {"pid": child, "code": os.waitstatus_to_exitcode(status)}
        (out / f"{scenario}.end").write_text(json.dumps(end))


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), sys.argv[2:])
