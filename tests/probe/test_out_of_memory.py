"""The observer of PyTorch's allocator: attached once, late, and never the cause of anything."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_probe.agent import Agent, Happening
from scaletui_probe.layout import Event, Kind
from scaletui_probe.lifecycle import watch_out_of_memory
from scaletui_probe.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe.workbench import Workbench

GIB = 2**30


class FakeCore:
    """torch._C with the binding that attaches observers."""

    def __init__(self) -> None:
        self.observers: list[Callable[[int, int, int, int], None]] = []

    def _cuda_attach_out_of_memory_observer(self, observer: Callable[[int, int, int, int], None]) -> None:
        self.observers.append(observer)


class FakeCuda:
    """torch.cuda that the job initialises at some time."""

    initialized = False

    def is_initialized(self) -> bool:
        return self.initialized

    def current_device(self) -> int:
        return 0

    def get_device_properties(self, _index: int) -> SimpleNamespace:
        return SimpleNamespace(uuid="GPU-0")

    def memory_stats_as_nested_dict(self, _index: int) -> dict[str, Any]:
        return {"allocated_bytes": {"all": {"current": 70 * GIB, "peak": 79 * GIB}}, "num_ooms": 1}

    def mem_get_info(self, _index: int) -> tuple[int, int]:
        return GIB, 80 * GIB


class FakeOptimizer:
    """An optimizer without parameters."""

    param_groups: tuple[dict[str, Any], ...] = ()
    state: dict[Any, Any] = {}  # noqa: RUF012


class Interrupting(Agent):
    """An agent in whose work a Ctrl-C falls."""

    def happened(self, happening: Happening) -> None:
        if happening.event is Event.OOM:
            raise KeyboardInterrupt
        super().happened(happening)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch, bench: Workbench) -> SimpleNamespace:
    fake = SimpleNamespace(cuda=FakeCuda(), _C=FakeCore(), version=SimpleNamespace(cuda="13.0", hip=None))
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setenv("SCALETUI_DIR", str(bench.rings))
    return fake


def step(agent: Agent, optimizer: FakeOptimizer) -> None:
    agent.before_step(optimizer)
    agent.after_step(optimizer)


def begin(kind: type[Agent] = Agent) -> Agent:
    agent = kind(Settings())
    agent.tell_when_on_device(lambda: watch_out_of_memory(agent))
    return agent


def test_it_is_attached_once_and_not_before_the_job_uses_cuda(torch: SimpleNamespace) -> None:
    agent, optimizer = begin(), FakeOptimizer()
    step(agent, optimizer)
    assert torch._C.observers == []
    torch.cuda.initialized = True
    for _ in range(3):
        step(agent, optimizer)
    agent.leave()
    assert len(torch._C.observers) == 1


def test_it_leaves_the_moment_in_the_ring(torch: SimpleNamespace, bench: Workbench) -> None:
    torch.cuda.initialized = True
    agent = begin()
    step(agent, FakeOptimizer())
    torch._C.observers[0](0, 2 * GIB, 79 * GIB, GIB)
    agent.leave()
    (ring,) = bench.read()
    record = ring.last(Kind.EVENT)
    assert (record.event, record.event_values) == (Event.OOM, (2 * GIB, GIB))
    assert (record.measures.get("allocated"), record.measures.get("ooms")) == (70 * GIB, 1)
    assert (ring.header.device_type, ring.header.device_uuid, record.device_index) == ("cuda", "GPU-0", 0)


def test_nothing_gets_out_of_it(torch: SimpleNamespace) -> None:
    torch.cuda.initialized = True
    agent = begin(Interrupting)
    torch._C.observers[0](0, 1, 2, 3)
    agent.leave()
    torch._C.observers[0](0, 1, 2, 3)
    assert agent.errors == 0


def test_an_agent_with_too_many_errors_goes_quiet(torch: SimpleNamespace, bench: Workbench) -> None:
    agent = begin()
    for _ in range(25):
        agent.swallow(ValueError("broken"))
    assert agent.quiet
    agent.leave()
    (ring,) = bench.read()
    assert [(record.event, record.text) for record in ring.records[Kind.EVENT][1:]] == [
        (Event.QUIET, "ValueError")
    ]
