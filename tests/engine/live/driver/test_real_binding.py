"""The real nvidia-ml-py on a made-up library: where there is a C compiler and the binding is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_nvml.shared_object import build, compiler

GIB = 1 << 30
ENGINE = Path(__file__).parents[4] / "engine"
CAN_RUN = compiler() is not None and importlib.util.find_spec("pynvml") is not None
SCRIPT = """
import json
from scaletui_engine.live.contract import contract
from scaletui_engine.live.driver.nvml_source import NvmlSource
from scaletui_engine.live.snapshot import Moment, Snapshot
source = NvmlSource()
update = source.poll(Moment(1, 0))
while update.more:
    update = source.poll(Moment(1, 0))
print(json.dumps(contract(Snapshot(Moment(1, 0), (), (), (), update.drivers))["drivers"]))
"""

if CAN_RUN:

    @pytest.fixture(scope="module")
    def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = build(tmp_path_factory.mktemp("nvml"))
        assert folder is not None
        return folder

    def drivers(library: Path, **fake: str) -> list[dict[str, object]]:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(library), "PYTHONPATH": str(ENGINE)}
        environment |= {f"FAKE_NVML_{name}": value for name, value in fake.items()}
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    def test_eight_gpus_through_ctypes(library: Path) -> None:
        pid = os.getpid()
        found = drivers(library, STILL="1", PIDS=f"0:{pid},0:4000001,3:7")
        assert [gpu["index"] for gpu in found] == list(range(8))
        first = found[0]
        assert (first["uuid"], first["name"]) == (
            "GPU-00000000-0000-4000-8000-000000000000",
            "NVIDIA H100 80GB HBM3",
        )
        assert (first["used"], first["total"], first["utilization_percent"]) == (48 * GIB, 80 * GIB, 80)
        assert (first["power_w"], first["power_limit_w"], first["temperature_c"]) == (600.0, 700.0, 60)
        assert first["throttle"] == ["power cap"]
        assert first["ecc_uncorrected"] == 0
        assert first["not_available"] == {}
        assert first["processes"] == [
            {"pid": pid, "used": 47 * GIB, "in_this_namespace": True, "rank": None},
            {"pid": 4_000_001, "used": 47 * GIB, "in_this_namespace": False, "rank": None},
        ]

    def test_a_lost_gpu_through_ctypes(library: Path) -> None:
        found = drivers(library, MODE="lost", COUNT="3")
        assert [gpu["state"] for gpu in found] == ["ok", "lost", "ok"]
        assert found[1]["not_available"]["used"] == "not available: the GPU is lost (GPU is lost)"

    def test_unified_memory_through_ctypes(library: Path) -> None:
        (gpu,) = drivers(library, MODE="nomem", COUNT="1")
        assert gpu["not_available"]["used"] == "not available: unified memory (Not Supported)"
        assert gpu["unified_host"]["total"] > 0

    def test_pids_of_another_namespace_through_ctypes(library: Path) -> None:
        (gpu,) = drivers(library, MODE="foreign", COUNT="1", PIDS=f"0:{os.getpid()}")
        assert [(p["pid"], p["in_this_namespace"]) for p in gpu["processes"]] == [(4_000_000, False)]
