"""Report 7 of live monitors: the wrong GPU because of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER.

pynvml#28, wandb#538 and #9571, monarch#4628, unsloth#8917, dask-cuda#777: test_reports.py has the table.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from fake_nvml.numbering import GPUS, MATRIX, devices_of, machine
from fake_nvml.sweeper import Sweeper

from scaletui_engine.live.driver.matching import seats
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment, Snapshot
from scaletui_engine.live.store import Store
from scaletui_probe.agent import Agent
from scaletui_probe.layout import Mode
from scaletui_probe.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from probe.workbench import Workbench


class Numbered:
    """torch.cuda of a process that has chosen one of the GPUs that CUDA shows it, in CUDA's numbers."""

    def __init__(self, uuids: list[str], chosen: int) -> None:
        self._uuids = uuids
        self._chosen = chosen

    def is_initialized(self) -> bool:
        return self._chosen < len(self._uuids)

    def current_device(self) -> int:
        assert self.is_initialized()
        return self._chosen

    def get_device_properties(self, index: int) -> SimpleNamespace:
        """Their UUIDs as PyTorch gives them: without a word before them."""
        return SimpleNamespace(uuid=self._uuids[index].partition("-")[2], name="NVIDIA H100 PCIe")

    def memory_stats_as_nested_dict(self, _index: int) -> dict[str, object]:
        return {}

    def mem_get_info(self, _index: int) -> tuple[int, int]:
        return 1, 2


class Optimizer:
    """An optimizer without parameters."""

    param_groups: tuple[dict[str, object], ...] = ()
    state: dict[object, object] = {}  # noqa: RUF012


def publish(monkeypatch: pytest.MonkeyPatch, cuda: Numbered, rank: int) -> None:
    """One step of a rank, as its probe tells it."""
    version = SimpleNamespace(cuda="13.0", hip=None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, version=version))
    monkeypatch.setenv("RANK", str(rank))
    agent, optimizer = Agent(Settings(mode=Mode.HOOKS)), Optimizer()
    agent.before_step(optimizer)
    agent.after_step(optimizer)
    agent.leave()
    assert agent.errors == 0


def seen(rings: Path) -> Snapshot:
    """What a viewer finds in the folder and on the machine."""
    source, moment = RingSource(str(rings)), Moment(1, 1)
    snapshot = Store(source.host).take(source.poll(moment), moment)
    source.close()
    assert snapshot.faults == ()
    return Snapshot(moment, snapshot.jobs, (), (), Sweeper(machine()).sweep())


@pytest.mark.parametrize(("visible", "order"), MATRIX, ids=str)
def test_pynvml_28_wandb_538_monarch_4628_a_rank_is_on_the_gpu_that_it_trains_on(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, visible: str | None, order: str
) -> None:
    """Whatever number it has in the job; and a job that sees no GPU is on none, not on the first."""
    monkeypatch.setenv("SCALETUI_DIR", str(bench.rings))
    monkeypatch.setenv("WORLD_SIZE", str(GPUS))
    monkeypatch.setenv("CUDA_DEVICE_ORDER", order)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    uuids = devices_of(visible, order)
    ranks = range(max(len(uuids), 1))
    for rank in ranks:
        publish(monkeypatch, Numbered(uuids, rank), rank)
    snapshot = seen(bench.rings)
    found = {rank.identity.rank: seat.view.uuid for seat in seats(snapshot) for rank in seat.ranks}
    assert found == dict(enumerate(uuids))
    (job,) = snapshot.jobs
    types = [rank.identity.device_type for rank in job.ranks]
    assert types == ["cuda" if uuids else "cpu" for _ in ranks]
    assert [rank.identity.process.pid for rank in job.ranks] == [os.getpid() for _ in ranks]
