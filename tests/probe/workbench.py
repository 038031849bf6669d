"""Starts real commands under `scaletui run` and reads the rings that they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaletui_probe.header import Header, decode_header
from scaletui_probe.layout import HEADER_FIELDS, HEADER_SIZE, PLAN_PREFIX, PLAN_SIZE, RECORD_SIZE, Kind, Mode
from scaletui_probe.record import Record, decode

JOBS = Path(__file__).parent / "jobs"
REGIONS = {Kind.SAMPLE: 256, Kind.STEP: 256, Kind.EVENT: 32}
TIMEOUT_S = 600
"""How long a job may take on a busy machine; nothing is asserted about it."""


@dataclass(frozen=True)
class Ring:
    """One ring file, read whole."""

    header: Header
    plan: dict[str, Any]
    records: dict[Kind, list[Record]]

    def last(self, kind: Kind) -> Record:
        return self.records[kind][-1]

    def held(self, kind: Kind, part: str) -> int:
        """Bytes of a part on every device together."""
        found = [self.last(kind).measures.get(f"{part}_{place}") for place in ("device", "host")]
        return sum(value for value in found if value is not None)


def read_ring(path: Path) -> Ring:
    data = path.read_bytes()
    _, length, _ = PLAN_PREFIX.unpack_from(data, HEADER_SIZE)
    body = HEADER_SIZE + PLAN_PREFIX.size
    plan = json.loads(data[body : body + length]) if length else {}
    records = {}
    offset = HEADER_SIZE + PLAN_SIZE
    for kind, capacity in REGIONS.items():
        slots = range(offset, offset + capacity * RECORD_SIZE, RECORD_SIZE)
        found = [entry for entry in (decode(data[at : at + RECORD_SIZE]) for at in slots) if entry]
        records[kind] = [record for _, record in sorted(found, key=lambda entry: entry[0])]
        offset += capacity * RECORD_SIZE
    return Ring(decode_header(data), plan, records)


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code, its output and its rings in the order of ranks."""

    code: int
    output: str
    rings: list[Ring]


@dataclass(frozen=True)
class Workbench:
    """A folder for rings and one for what the job itself writes."""

    rings: Path
    out: Path

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SCALETUI_")}
        return {**kept, "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR", **variables}

    def command(self, words: list[str], *options: str) -> list[str]:
        return [sys.executable, "-m", "scaletui", "run", "--dir", str(self.rings), *options, "--", *words]

    def torchrun(self, ranks: int, job: str, *arguments: str) -> list[str]:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        return [*launcher, f"--nproc-per-node={ranks}", str(JOBS / job), str(self.out), *arguments]

    def run(self, words: list[str], *options: str, **variables: str) -> Outcome:
        done = subprocess.run(
            self.command(words, *options),
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Outcome(done.returncode, done.stdout + done.stderr, self.read())

    def read(self) -> list[Ring]:
        return [read_ring(path) for path in sorted(self.rings.glob("*.ring"))]


def sample_header() -> Header:
    """A header with something in every field."""
    texts = {field.name: field.code.endswith("s") for field in HEADER_FIELDS}
    fields: dict[str, Any] = {name: "text" if texts[name] else 5 for name in Header._fields}
    return Header(**{**fields, "mode": Mode.HOOKS})
