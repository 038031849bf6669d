"""Ranks as values: one of a CPU job and one of a GPU job, to be changed field by field."""

from __future__ import annotations

from dataclasses import replace

from scaletui_engine.live.evidence import RankState, Verdict
from scaletui_engine.live.header import Identity, Process
from scaletui_engine.live.held import Held
from scaletui_engine.live.history import Point
from scaletui_engine.live.predicted import Prediction
from scaletui_engine.live.snapshot import Allocator, RankView
from scaletui_probe.layout import Reason

S = 1_000_000_000
GIB = 1 << 30

IDENTITY = Identity(
    job_id="4f2a", attempt=0, rank=0, local_rank=0, world_size=2, local_world_size=2,
    process=Process(100, 1), launcher=Process(99, 1), boot_id="boot", host="node-a", uid=0,
    command="/usr/bin/python3 /home/u/train.py --lr 1", working_folder="/home/u", device_type="cpu",
    device_uuid="", device_index=-1, torch_version="2.13.0", python_version="3.11", slurm_id="",
    slurm_nodes="", micro_batch=0, sequence_length=0,
)  # fmt: skip
CPU_RANK = RankView(
    path="r0", identity=IDENTITY, verdict=Verdict(RankState.RUNNING), created_wall_ns=0,
    last_ns=9_600_000_000, last_wall_ns=0, same_clock=True, step=4812, step_ns=412_000_000,
    measured_at_step=4800, measured=Held(1000, 1000, 2004, 0, 16, 0), now=Held(1000, 0, 2004, 0, 16, 300),
    on_host=Held(), prediction=Prediction(Held(1000, 1000, 2004)), plan=None, allocator=None,
    allocator_reason=Reason.CPU_JOB, states_reason=Reason.AVAILABLE, buffers_reason=Reason.AVAILABLE,
    host_rss=350 << 20, driver_free=None, driver_total=None, history=(), errors=0,
)  # fmt: skip
GPU_RANK = replace(
    CPU_RANK,
    measured=Held(10 * GIB, 10 * GIB, 20 * GIB, 0, 0, 0, 5 * GIB),
    now=Held(10 * GIB, 0, 20 * GIB, 0, 0, 2 * GIB, 8 * GIB),
    prediction=Prediction(Held(10 * GIB, 10 * GIB, 20 * GIB)),
    allocator=Allocator(40 * GIB, 50 * GIB, 40 * GIB, GIB, None, 45 * GIB, 50 * GIB, 0, 0),
    allocator_reason=Reason.AVAILABLE,
    driver_free=28 * GIB,
    driver_total=80 * GIB,
    history=tuple(Point(step, step * S, S, 40 * GIB + step, None) for step in range(1, 201)),
)
