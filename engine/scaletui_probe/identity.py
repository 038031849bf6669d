"""Who this process is in its job: what the ring's header says."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from scaletui_probe.header import Header
from scaletui_probe.process import boot_id, start_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scaletui_probe.cuda import Device
    from scaletui_probe.settings import Settings


class Place(NamedTuple):
    """The process's place among the others."""

    rank: int
    local_rank: int
    world_size: int
    local_world_size: int
    attempt: int


def place(environ: Mapping[str, str]) -> Place:
    """From the process group when there is one, else from the launcher's variables, else rank 0 of 1."""
    rank = _number(environ, "RANK")
    world_size = _number(environ, "WORLD_SIZE") if "RANK" in environ else 1
    group: Any = sys.modules.get("torch.distributed")
    if group is not None and group.is_available() and group.is_initialized():
        rank, world_size = group.get_rank(), group.get_world_size()
    return Place(
        rank=rank,
        local_rank=_number(environ, "LOCAL_RANK" if "LOCAL_RANK" in environ else "SLURM_LOCALID"),
        world_size=max(1, world_size),
        local_world_size=_number(environ, "LOCAL_WORLD_SIZE"),
        attempt=_number(environ, "TORCHELASTIC_RESTART_COUNT"),
    )


def _number(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "")
    return int(text) if text.isdigit() else 0


def job_id(environ: Mapping[str, str], where: Place) -> str:
    """One name for all ranks of a job, kept over torchrun's restarts.

    Under plain torchrun TORCHELASTIC_RUN_ID is the literal "none" in every job. On one node the
    launcher's pid and start time stand in for it; over several nodes, each with its launcher, the address
    that all ranks meet at.
    """
    run_id = environ.get("TORCHELASTIC_RUN_ID", "none")
    if run_id not in ("", "none"):
        return run_id
    if 0 < where.local_world_size < where.world_size:
        return f"{environ.get('MASTER_ADDR', '')}:{environ.get('MASTER_PORT', '')}"
    if where.world_size > 1 and "TORCHELASTIC_RUN_ID" not in environ and slurm_id(environ):
        return slurm_id(environ)
    first = os.getppid() if "RANK" in environ or where.world_size > 1 else os.getpid()
    return f"{platform.node()}-{first}-{start_ticks(first)}"


def slurm_id(environ: Mapping[str, str]) -> str:
    """Slurm's job and step, "123.0"; empty outside Slurm."""
    parts = (environ.get("SLURM_JOB_ID"), environ.get("SLURM_STEP_ID"))
    return ".".join(part for part in parts if part)


def header(environ: Mapping[str, str], settings: Settings, device: Device) -> Header:
    """This process's header, taken now."""
    where = place(environ)
    parent = os.getppid()
    return Header(
        mode=settings.mode,
        uid=os.geteuid(),
        rank=where.rank,
        local_rank=where.local_rank,
        world_size=where.world_size,
        local_world_size=where.local_world_size,
        attempt=where.attempt,
        device_index=device.ordinal,
        micro_batch=settings.micro_batch,
        sequence_length=settings.sequence_length,
        pid=os.getpid(),
        pid_start_ticks=start_ticks(os.getpid()),
        parent_pid=parent,
        parent_start_ticks=start_ticks(parent),
        created_monotonic_ns=time.monotonic_ns(),
        created_wall_ns=time.time_ns(),
        interval_ns=int(settings.interval_s * 1e9),
        device_type=device.type,
        device_uuid=device.uuid,
        boot_id=boot_id(),
        torch_version=_torch_version(),
        python_version=platform.python_version(),
        job_id=job_id(environ, where),
        host=platform.node(),
        slurm_id=slurm_id(environ),
        slurm_nodes=environ.get("SLURM_JOB_NODELIST", ""),
        working_folder=_working_folder(),
        command=_command(),
    )


def _torch_version() -> str:
    return str(getattr(sys.modules.get("torch"), "__version__", ""))


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _command() -> str:
    return shlex.join(getattr(sys, "orig_argv", sys.argv))
