"""The scorer of pipeline files: its gates, and records without expectations or without sense."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent


def _score(file: Path) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, str(GOLDEN / "score.py"), "pipeline", str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def _scored(tmp_path: Path, cases: object) -> tuple[int, dict[str, Any]]:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases))
    return _score(file)


def test_every_gate_holds() -> None:
    code, report = _score(GOLDEN / "pipeline.json")
    assert {gate["name"]: gate["value"] for gate in report["gates"]} == {
        "exact cases off": 0,
        "uneven cases off": 0,
        "orders off": 0,
        "figure rows off": 0,
        "Megatron-LM orders off": 0,
        "cells of the paper's table off": 0,
        "cases that are not refused": 0,
    }
    assert code == 0


CASE = {"schedule": "1f1b", "p": 4, "m": 8, "v": 1, "F": 1, "I": 1, "W": 1, "B_full": 2, "comm": 0}

PER_DEVICE = {"schedule": "interleaved_1f1b(torch flex rounds)", "v": 2, "per": "device", "comm": 1}


CASES = {
    "equal": ({**CASE, "makespan": 33}, "ok", 33, ""),
    "makespan off": ({**CASE, "makespan": 34}, "off", 33, "makespan 33.0 not 34"),
    "peak off": ({**CASE, "peak_live_chunks": [4, 3, 2, 2]}, "off", 33, "peak_live_chunks"),
    "null": ({**CASE, "makespan": None}, "reported", 33, ""),
    "no expectation": (CASE, "reported", 33, ""),
    "unknown schedule": ({**CASE, "schedule": "chimera", "makespan": 1}, "inexpressible", None, "'chimera'"),
    "unknown unit": ({**CASE, "per": "token", "makespan": 1}, "inexpressible", None, "per 'token'"),
    "no ranks": ({"schedule": "1f1b", "m": 8, "makespan": 1}, "inexpressible", None, "field 'p'"),
    "per device": ({**CASE, **PER_DEVICE, "makespan": 46}, "ok", 46, ""),
    "halves of a whole": (
        {"schedule": "zb_h1", "p": 4, "m": 8, "F": 1, "B": 2, "makespan": 27},
        "ok",
        27,
        "",
    ),
    "unknown field": ({**CASE, "makespan": 33, "colour": "red"}, "ok", 33, "not compared: colour"),
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The record of every case, from one run that fails its gate."""
    cases = [case for case, *_ in CASES.values()]
    code, report = _scored(tmp_path_factory.mktemp("score"), {"own_sim_exact_cases": cases})
    assert code == 1
    return dict(zip(CASES, report["records"], strict=True))


@pytest.mark.parametrize("name", CASES)
def test_exact_case(name: str, scored: dict[str, dict[str, Any]]) -> None:
    _, status, predicted, reason = CASES[name]
    assert (scored[name]["status"], scored[name]["predicted"]) == (status, predicted)
    assert reason in scored[name]["reason"]


def test_any_subset_of_keys_and_remarks(tmp_path: Path) -> None:
    assert _scored(tmp_path, {}) == (0, {"records": [], "gates": []})
    code, report = _scored(tmp_path, {"conventions": {}, "_about": ""})
    assert (code, [record["status"] for record in report["records"]]) == (0, ["reported"])


def test_a_list_is_pytorchs_orders(tmp_path: Path) -> None:
    actions: dict[str, list[str | None]] = {"0": ["0F0", None, "0B0", "0REDUCE_GRAD"], "1": ["1F0", "1B0"]}
    record = {"schedule": "GPipe", "p": 2, "m": 1, "v": 1, "actions": actions}
    assert _scored(tmp_path, [record])[0] == 0
    actions["1"][0] = "1F1"
    code, report = _scored(tmp_path, [record])
    assert (code, report["records"][0]["reason"]) == (1, "rank 1, action 0: 1F0 not 1F1")


def test_a_file_that_cannot_be_read() -> None:
    command = [sys.executable, str(GOLDEN / "score.py"), "pipeline", "no/such.json"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
