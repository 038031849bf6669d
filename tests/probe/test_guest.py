"""What the probe must not do to its host, the job: make a step wait, keep memory, ask at the wrong time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from collections import defaultdict
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from probe.fake_torch import FAKE_TORCH, put_torch
from probe.stand_ins import FakeParameter, FakeTensor
from probe.test_cuda import FakeCuda, use
from probe.test_fsdp2 import FSDPState, context, group, register
from probe.workbench import Workbench, sample_header

from scaletui_probe import agent as agent_module
from scaletui_probe import lifecycle, states
from scaletui_probe.agent import Agent
from scaletui_probe.layout import Event, Kind, Mode, Reason
from scaletui_probe.record import Measures, Record
from scaletui_probe.ring import create_ring
from scaletui_probe.settings import Settings
from scaletui_probe.units import units

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


PATIENCE_S = 60.0


class Optimizer:
    """An optimizer with one tensor, or none."""

    def __init__(self, *parameters: Any) -> None:
        self.param_groups = [{"params": list(parameters)}]
        self.state: dict[Any, Any] = defaultdict(dict)


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch, bench: Workbench) -> Iterator[Agent]:
    """On a job that uses device 3 of a torch.cuda that answers."""
    use(monkeypatch, FakeCuda(), cuda="13.0")
    monkeypatch.setenv("SCALETUI_DIR", str(bench.rings))
    found = Agent(Settings())
    yield found
    found.leave()


def step(agent: Agent, *optimizers: Any) -> None:
    for optimizer in optimizers:
        agent.before_step(optimizer)
        agent.after_step(optimizer)


def record(kind: Kind) -> Record:
    return Record(kind, 1, 1, Measures())


def test_a_step_does_not_wait_for_a_sample_that_a_slow_disk_holds_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    ring = create_ring(folder, sample_header())
    at_disk, on = threading.Event(), threading.Event()
    write = os.pwrite

    def slow(descriptor: int, data: bytes, offset: int) -> int:
        if threading.current_thread() is not threading.main_thread():
            at_disk.set()
            assert on.wait(PATIENCE_S)
        return write(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", slow)
    sampler = threading.Thread(target=ring.put, args=[record(Kind.SAMPLE)])
    sampler.start()
    assert at_disk.wait(PATIENCE_S)
    assert [ring.put(record(Kind.STEP)), ring.put(record(Kind.SAMPLE))] == [True, False]
    on.set()
    sampler.join()
    ring.close()
    os.close(folder)


def test_a_disk_that_holds_up_steps_is_asked_less(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, bench: Workbench
) -> None:
    """A write of a second may come every twenty minutes: it is no work of this process, and costs it all the
    same."""
    clock = [0]
    ns = 10**9
    monkeypatch.setattr(agent_module.time, "monotonic_ns", lambda: clock[0])
    write = os.pwrite

    def slow(descriptor: int, data: bytes, offset: int) -> int:
        clock[0] += ns
        return write(descriptor, data, offset)

    optimizer = Optimizer()
    step(agent, optimizer)
    step(agent, optimizer)
    agent._census.due_ns = 1 << 62
    agent._records.next_ns = 0
    monkeypatch.setattr(os, "pwrite", slow)
    for _ in range(100):
        step(agent, optimizer)
        clock[0] += ns
    (ring,) = bench.read()
    assert [record.measures.get("step") for record in ring.records[Kind.STEP]] == [1, 2, 3]


FORKED = """
import os, sys, torch
optimizer = torch.optim.optimizer.Optimizer()
optimizer.step()
hooks = sys.modules["scaletui_probe.hooks"]
import threading
(sampler,) = [thread for thread in threading.enumerate() if thread.name == "scaletui-probe"]
with sampler._stopped._cond:
    child = os.fork()
    if not child:
        sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
"""


def test_a_forked_child_that_exits_waits_for_no_lock_of_a_thread_that_it_has_not(tmp_path: Path) -> None:
    put_torch(tmp_path, FAKE_TORCH)
    arm = "from scaletui_probe.arming import arm; arm();"
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {arm}{FORKED}"
    environ = {**os.environ, "SCALETUI_DIR": str(tmp_path / "rings")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, "")


STUCK = """
import os, sys, threading, torch
optimizer = torch.optim.optimizer.Optimizer()
reading, _writing = os.pipe()
write, at_disk = os.pwrite, threading.Event()
def hang(descriptor, data, offset):
    if threading.current_thread() is threading.main_thread():
        return write(descriptor, data, offset)
    at_disk.set()
    os.read(reading, 1)
os.pwrite = hang
optimizer.step()
at_disk.wait()
"""


def test_a_thread_that_hangs_at_the_disk_lets_the_job_end_in_order(tmp_path: Path) -> None:
    put_torch(tmp_path, FAKE_TORCH)
    arm = "from scaletui_probe.arming import arm; arm();"
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {arm}{STUCK}"
    environ = {**os.environ, "SCALETUI_DIR": str(tmp_path / "rings")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stderr) == (0, "")
    (ring,) = Workbench(tmp_path / "rings", tmp_path).read()
    assert ring.last(Kind.EVENT).event is Event.EXIT


@pytest.mark.parametrize(("optimizers", "most"), [(3, 3), (8, 8), (200, 8 + 4 + 1)])
def test_an_optimizer_for_each_parameter_costs_no_count_for_each(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, optimizers: int, most: int
) -> None:
    counts = []
    count = agent._census.after_step
    monkeypatch.setattr(agent._census, "after_step", lambda on: (counts.append(agent), count(on))[1])
    every = [Optimizer(FakeParameter(8)) for _ in range(optimizers)]
    step(agent, *every)
    assert len(counts) <= most
    step(agent, *every)
    assert agent._census.counted.get("weights_device") == 8 * optimizers


def test_ranks_of_unlike_speed_count_at_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from scaletui_probe.census import Census
    from scaletui_probe.optimizers import Optimizers

    def counted(interval: int) -> set[int]:
        """Steps that count, a step a nanosecond, of a rank whose budget allows one every so often."""
        optimizers = Optimizers()
        census = Census(optimizers)
        found = []
        for now in range(20_000):
            if census.is_due(now):
                found.append(now + 1)
                census.counted.put({"counted_at_step": now + 1})
                census.due_ns = now + interval
            optimizers.step += 1
        apart = [later - earlier for earlier, later in pairwise(found)]
        assert interval <= min(apart)
        assert max(apart) <= 2 * interval
        return set(found[1:])

    quick, slow, slower = counted(130), counted(140), counted(250)
    assert slow == quick
    assert slower <= quick


def test_the_driver_is_asked_from_no_other_thread(monkeypatch: pytest.MonkeyPatch, agent: Agent) -> None:
    asked: list[threading.Thread] = []
    answer = FakeCuda.mem_get_info

    def note(self: FakeCuda, index: int) -> tuple[int, int]:
        asked.append(threading.current_thread())
        return answer(self, index)

    monkeypatch.setattr(FakeCuda, "mem_get_info", note)
    agent._gauges._driver.next_ns = 0
    step(agent, Optimizer())
    sampler = threading.Thread(target=agent.sample)
    sampler.start()
    sampler.join()
    agent.finish()
    assert asked == [threading.main_thread()]


def test_a_sample_has_what_the_driver_told_at_a_step(agent: Agent, bench: Workbench) -> None:
    agent.sample()
    (ring,) = bench.read()
    assert ring.last(Kind.SAMPLE).measures.get("driver_free") == 5 * 2**30


def test_while_a_graph_is_recorded_nothing_is_asked_and_steps_go_unseen(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, bench: Workbench
) -> None:
    optimizer = Optimizer(FakeParameter(8))
    step(agent, optimizer)

    def forbidden(*_: object) -> None:
        raise AssertionError("asked while a graph is recorded")

    monkeypatch.setattr(FakeCuda, "is_current_stream_capturing", lambda self: True, raising=False)
    monkeypatch.setattr(FakeCuda, "mem_get_info", forbidden)
    agent._gauges._driver.next_ns = 0
    agent._census.due_ns = 0
    step(agent, optimizer)
    agent.sample()
    (ring,) = bench.read()
    for kind in (Kind.STEP, Kind.SAMPLE):
        measures = ring.last(kind).measures
        for name in ("step", "weights_device"):
            assert (measures.get(name), measures.reason(name)) == (None, Reason.CAPTURED)
        assert measures.get("allocated")
    assert agent.errors == 0


@pytest.mark.parametrize(
    ("is_enabled", "mode"),
    [
        pytest.param(None, Mode.THREAD, id="a-python-that-always-has-its-lock"),
        pytest.param(lambda: True, Mode.THREAD, id="with-its-lock"),
        pytest.param(lambda: False, Mode.HOOKS, id="free-threaded"),
    ],
)
def test_no_thread_looks_at_tensors_without_the_interpreters_lock(
    monkeypatch: pytest.MonkeyPatch, is_enabled: Any, mode: Mode
) -> None:
    monkeypatch.delattr(sys, "_is_gil_enabled", raising=False)
    if is_enabled is not None:
        monkeypatch.setattr(sys, "_is_gil_enabled", is_enabled, raising=False)
    assert lifecycle._possible(Settings()).mode is mode


class Buffers:
    """The buffers of a collective, each made when it is asked for; none may outlive the question."""

    def __init__(self) -> None:
        self._made: list[weakref.ref[Any]] = []
        self.most = 0

    def __getattr__(self, name: str) -> Any:
        if name not in ("all_gather_output", "reduce_scatter_input", "unsharded_accumulated_grad"):
            raise AttributeError(name)
        tensor = FakeTensor(16)
        self._made.append(weakref.ref(tensor))
        self.most = max(self.most, sum(made() is not None for made in self._made))
        return tensor


def test_the_sampling_thread_holds_one_buffer_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch frees the buffers of its collectives by dropping them: a list would keep them alive."""
    buffers = Buffers()
    groups = [
        group(
            _all_gather_result=buffers,
            comm_ctx=context(
                all_gather_state=SimpleNamespace(all_gather_result=buffers),
                reduce_scatter_states=[buffers, buffers],
            ),
            fsdp_params=[buffers] * 3,
        )
        for _ in range(5)
    ]
    register(monkeypatch, [FSDPState(groups, plural=True)])
    held = states.unsharded_now(units([]))
    assert (held["unsharded_weights"].device, held["unsharded_gradients"].device) == (5 * 32, 5 * 80)
    assert buffers.most <= 2, "the one that was just counted may live until the next has come"


def test_reading_an_optimizers_state_does_not_make_any(agent: Agent) -> None:
    parameter = FakeParameter(8)
    optimizer = Optimizer(parameter)
    optimizer.state[parameter] = {
        "step": 3.5,
        "moment": FakeTensor(8),
        "history": [FakeTensor(4)],
        "none": None,
    }
    optimizer.state["of no parameter"] = 7
    step(agent, optimizer)
    assert list(optimizer.state) == [parameter, "of no parameter"]
    assert agent._census.counted.get("optimizer_device") == 12
