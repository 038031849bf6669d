"""Rings of a made-up job, written by the probe's own writer in the name of a process that lives."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from scaletui_probe.directory import open_directory
from scaletui_probe.header import Header
from scaletui_probe.layout import PARAMETER_COLUMNS, Event, Kind, Mode, Reason
from scaletui_probe.process import boot_id, start_ticks
from scaletui_probe.record import Measures, Record
from scaletui_probe.ring import create_ring

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

GIB = 1 << 30


class MadeUpJob:
    """Ranks of one job in a folder; as a context it closes their rings."""

    def __init__(self, folder: Path, ranks: int = 2, **header: Any) -> None:
        self.folder = folder
        directory = open_directory(str(folder), create=True)
        self.rings = [create_ring(directory, header_of(rank, ranks, **header)) for rank in range(ranks)]
        os.close(directory)

    def __enter__(self) -> MadeUpJob:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for ring in self.rings:
            ring.close()

    def plan(self) -> None:
        """Every rank publishes a plan of one parameter of 10 by 3, sharded over the ranks."""
        count = len(self.rings)
        for rank, ring in enumerate(self.rings):
            ring.put_plan(plan_of(rank, count))

    def step(self, number: int, **measures: int) -> None:
        """Every rank makes a step."""
        for ring in self.rings:
            told = {"step": number, "step_ns": 400_000_000, **measures}
            ring.put(record(Kind.STEP, {**told, "counted_at_step": number}))
            ring.put(record(Kind.SAMPLE, {**told, "host_rss": GIB}))

    def exit(self) -> None:
        """Every rank says goodbye."""
        for ring in self.rings:
            ring.put(record(Kind.EVENT, {}, Event.EXIT))


def header_of(rank: int, ranks: int, **changes: Any) -> Header:
    """A header in the name of this process."""
    pid = os.getpid()
    found: dict[str, Any] = {
        "mode": Mode.THREAD, "uid": os.geteuid(), "rank": rank, "local_rank": rank, "world_size": ranks,
        "local_world_size": ranks, "attempt": 0, "device_index": -1, "micro_batch": 0, "sequence_length": 0,
        "pid": pid, "pid_start_ticks": start_ticks(pid),
        "parent_pid": pid, "parent_start_ticks": start_ticks(pid),
        "created_monotonic_ns": time.monotonic_ns(), "created_wall_ns": time.time_ns(),
        "interval_ns": 500_000_000, "device_type": "cpu", "device_uuid": "", "boot_id": boot_id(),
        "torch_version": "2.13.0", "python_version": "3.11.7", "job_id": "made-up",
        "host": os.uname().nodename,
        "slurm_id": "", "slurm_nodes": "", "working_folder": "/", "command": "python train.py",
    }  # fmt: skip
    return Header(**{**found, **changes})


def record(kind: Kind, measures: dict[str, int], event: Event = Event.NONE) -> Record:
    """A record of now with these measures; without an allocator's it is a CPU job's."""
    taken = Measures()
    taken.put(measures)
    if "allocated" not in measures:
        taken.lack("allocator", Reason.CPU_JOB)
    return Record(kind, time.monotonic_ns(), time.time_ns(), taken, event)


def plan_of(rank: int, ranks: int) -> dict[str, Any]:
    """A plan as the probe writes it."""
    cells = {
        "name": "w", "shape": [10, 3], "dtype": "float32", "requires_grad": True, "optimizer": 0,
        "param_group": 0, "fsdp_group": 0, "placements": ["S(0)"], "mesh_names": [], "mesh_shape": [ranks],
        "coordinate": [rank], "device": "cpu",
    }  # fmt: skip
    adam = {"class": "torch.optim.adamw.AdamW", "groups": [{"tensors": 1, "numel": 30, "arguments": {}}]}
    group = {"name": "", "shards": ranks, "param_dtype": None, "reduce_dtype": None}
    document = {
        "version": 1, "step": 1, "wrapper": "fsdp2",
        "mesh": {"device_type": "cpu", "shape": [ranks], "names": []},
        "coordinate": [rank], "optimizers": [adam], "fsdp_groups": [group],
        "parameter_columns": list(PARAMETER_COLUMNS),
        "parameters": [[cells[name] for name in PARAMETER_COLUMNS]], "parameters_total": 1, "buffers": [],
    }  # fmt: skip
    return json.loads(json.dumps(document))
