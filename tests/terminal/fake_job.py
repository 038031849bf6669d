"""Publishes rings as eight ranks of a GPU job would, until its input ends. Usage: fake_job.py FOLDER."""

from __future__ import annotations

import os
import platform
import select
import sys
import time

from scaletui_probe.directory import open_directory
from scaletui_probe.header import Header
from scaletui_probe.layout import Kind, Mode
from scaletui_probe.process import boot_id, start_ticks
from scaletui_probe.record import Measures, Record
from scaletui_probe.ring import RingWriter, create_ring

RANKS = 8
INTERVAL_S = 0.25
GIB = 1 << 30


def header(rank: int) -> Header:
    """The header of a rank; one process stands for all."""
    pid, parent = os.getpid(), os.getppid()
    return Header(
        mode=Mode.THREAD, uid=os.geteuid(), rank=rank, local_rank=rank, world_size=RANKS,
        local_world_size=RANKS, attempt=0, device_index=rank, micro_batch=1, sequence_length=8192, pid=pid,
        pid_start_ticks=start_ticks(pid), parent_pid=parent, parent_start_ticks=start_ticks(parent),
        created_monotonic_ns=time.monotonic_ns(), created_wall_ns=time.time_ns(),
        interval_ns=round(INTERVAL_S * 1e9), device_type="cuda", device_uuid=f"GPU-{rank}",
        boot_id=boot_id(), torch_version="2.13.0", python_version="3.11.7", job_id="fake",
        host=platform.node(),
        slurm_id="", slurm_nodes="", working_folder="/tmp", command="torchrun train.py",
    )  # fmt: skip


def measures(rank: int, tick: int) -> Measures:
    """Numbers that change from sample to sample."""
    taken = Measures()
    activations = (10 + (tick * 7 + rank * 3) % 25) * GIB
    allocated = 16 * GIB + activations
    taken.put({
        "step": tick // 2, "step_ns": 412_000_000 + 1_000_000 * (tick % 9), "counted_at_step": tick // 2,
        "allocated": allocated, "reserved": allocated + 3 * GIB, "active": allocated, "inactive_split": GIB,
        "requested": allocated, "allocated_peak": 45 * GIB, "reserved_peak": 48 * GIB,
        "active_peak": 45 * GIB,
        "allocated_peak_seen": 45 * GIB, "alloc_retries": 0, "ooms": 0, "driver_free": 79 * GIB - allocated,
        "driver_total": 80 * GIB, "host_rss": 3 * GIB, "weights_device": 4 * GIB, "gradients_device": 4 * GIB,
        "optimizer_device": 8 * GIB, "master_weights_device": 0, "buffers_device": 4096, "weights_host": 0,
        "gradients_host": 0, "optimizer_host": 0, "master_weights_host": 0, "buffers_host": 0,
        "unsharded_weights_device": GIB, "unsharded_weights_host": 0, "unsharded_gradients_device": 0,
        "unsharded_gradients_host": 0, "groups_unsharded": 2, "probe_cpu_ns": 1,
    })  # fmt: skip
    return taken


def publish(rings: list[RingWriter], tick: int) -> None:
    """One sample and one step of every rank."""
    for rank, ring in enumerate(rings):
        for kind in (Kind.SAMPLE, Kind.STEP):
            ring.put(
                Record(kind, time.monotonic_ns(), time.time_ns(), measures(rank, tick), device_index=rank)
            )


def main(folder: str) -> None:
    """Publish until stdin ends."""
    directory = open_directory(folder, create=True)
    rings = [create_ring(directory, header(rank)) for rank in range(RANKS)]
    tick = 0
    while not select.select([sys.stdin], [], [], INTERVAL_S if tick else 0)[0]:
        publish(rings, tick)
        tick += 1


if __name__ == "__main__":
    main(sys.argv[1])
