"""Which job a process belongs to and which place it has there."""

from __future__ import annotations

import os
import platform
import sys

import pytest

from scaletui_probe.identity import Place, job_id, place, slurm_id
from scaletui_probe.layout import Mode
from scaletui_probe.process import ResidentMemory, boot_id, start_ticks
from scaletui_probe.settings import Settings, settings_from

TORCHRUN = {
    "RANK": "5",
    "LOCAL_RANK": "1",
    "WORLD_SIZE": "8",
    "LOCAL_WORLD_SIZE": "4",
    "TORCHELASTIC_RESTART_COUNT": "2",
    "TORCHELASTIC_RUN_ID": "none",
    "MASTER_ADDR": "node0",
    "MASTER_PORT": "29500",
}
ONE_NODE = {**TORCHRUN, "WORLD_SIZE": "4"}
SLURM = {"SLURM_PROCID": "3", "SLURM_LOCALID": "3", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}
PARENT = f"{platform.node()}-{os.getppid()}-{start_ticks(os.getppid())}"
SELF = f"{platform.node()}-{os.getpid()}-{start_ticks(os.getpid())}"


class FakeGroup:
    """torch.distributed with a process group."""

    def __init__(self, up: bool) -> None:
        self.up = up

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return self.up

    def get_rank(self) -> int:
        return 6

    def get_world_size(self) -> int:
        return 9


@pytest.mark.parametrize(
    ("environ", "group", "expected"),
    [
        pytest.param(TORCHRUN, None, Place(5, 1, 8, 4, 2), id="torchrun"),
        pytest.param({}, None, Place(0, 0, 1, 0, 0), id="a-plain-process-is-rank-0-of-1"),
        pytest.param({"WORLD_SIZE": "8"}, None, Place(0, 0, 1, 0, 0), id="a-world-without-a-rank"),
        pytest.param({"RANK": "x"}, None, Place(0, 0, 1, 0, 0), id="not-a-number"),
        pytest.param(SLURM, FakeGroup(up=True), Place(6, 3, 9, 0, 0), id="slurm-with-a-process-group"),
        pytest.param(SLURM, FakeGroup(up=False), Place(0, 3, 1, 0, 0), id="slurm-batch-step-alone"),
    ],
)
def test_place(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], group: FakeGroup | None, expected: Place
) -> None:
    monkeypatch.setitem(sys.modules, "torch.distributed", group)
    assert place(environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param(ONE_NODE, PARENT, id="plain-torchrun-calls-every-job-none"),
        pytest.param({**TORCHRUN, "TORCHELASTIC_RUN_ID": "abc"}, "abc", id="torchrun-with-an-id"),
        pytest.param(TORCHRUN, "node0:29500", id="several-nodes-meet-at-an-address"),
        pytest.param({}, SELF, id="a-plain-process"),
        pytest.param({**SLURM, "RANK": "0", "WORLD_SIZE": "4"}, "77.0", id="srun"),
        pytest.param({**SLURM, **ONE_NODE}, PARENT, id="torchrun-inside-slurm"),
    ],
)
def test_all_ranks_of_a_job_have_one_name(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], expected: str
) -> None:
    monkeypatch.setitem(sys.modules, "torch.distributed", None)
    assert job_id(environ, place(environ)) == expected


def test_a_restart_keeps_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.distributed", None)
    again = {**ONE_NODE, "TORCHELASTIC_RESTART_COUNT": "3", "MASTER_PORT": "31234"}
    smaller = {**again, "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}
    assert job_id(again, place(again)) == job_id(ONE_NODE, place(ONE_NODE))
    assert job_id(smaller, place(smaller)) == job_id(ONE_NODE, place(ONE_NODE))
    assert (place(smaller).attempt, place(smaller).world_size) == (3, 3)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param(SLURM, "77.0", id="a-step"),
        pytest.param({"SLURM_JOB_ID": "77"}, "77", id="the-batch-script"),
        pytest.param({}, "", id="outside"),
    ],
)
def test_slurm_job_and_nodes(environ: dict[str, str], expected: str) -> None:
    assert slurm_id(environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, Settings(), id="nothing-said"),
        pytest.param({"SCALETUI_MODE": "hooks"}, Settings(mode=Mode.HOOKS), id="hooks"),
        pytest.param({"SCALETUI_INTERVAL": "0.01"}, Settings(interval_s=0.1), id="at-most-10-a-second"),
        pytest.param({"SCALETUI_INTERVAL": "nan"}, Settings(), id="not-a-number"),
        pytest.param(
            {"SCALETUI_MICRO_BATCH": "4", "SCALETUI_SEQ": "2048"},
            Settings(micro_batch=4, sequence_length=2048),
            id="batch-and-sequence",
        ),
        pytest.param({"SCALETUI_MICRO_BATCH": "-4", "SCALETUI_SEQ": "1e99"}, Settings(), id="nonsense"),
    ],
)
def test_settings(environ: dict[str, str], expected: Settings) -> None:
    assert settings_from(environ) == expected


def test_a_process_knows_its_start_its_boot_and_its_memory() -> None:
    memory = ResidentMemory()
    assert start_ticks(os.getpid()) >= start_ticks(os.getppid()) > 0
    assert start_ticks(2**22 + 1) == 0
    assert len(boot_id()) == 36
    assert (memory.read() or 0) > 10 * 2**20
    memory.close()
    assert memory.read() is None
