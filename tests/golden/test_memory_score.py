"""The scorer's gates hold on every file of published or recorded memory cases."""

from __future__ import annotations

import json
import subprocess
import sys
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any

import pytest

GOLDEN = Path(__file__).parent
sys.path.insert(0, str(GOLDEN))

from scoring.memory import score  # noqa: E402


def _score(kind: str, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GOLDEN / "score.py"), kind, str(file), "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("memory", "memory.json"),
        ("memory", "memory_more.json"),
        ("fsdp_memtracker", "fsdp_memtracker.json"),
        ("fsdp_memtracker", "fsdp_memtracker_more.json"),
    ],
)
def test_every_gate_holds(kind: str, name: str) -> None:
    done = _score(kind, GOLDEN / name)
    report = json.loads(done.stdout)
    assert {gate["name"]: gate["value"] for gate in report["gates"] if not gate["holds"]} == {}
    assert done.returncode == 0
    assert all(record["status"] != "inexpressible" or record["reason"] for record in report["records"])


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((GOLDEN / name).read_text("utf-8"))
    return rows


def test_a_prediction_does_not_look_at_the_measured_value(tmp_path: Path) -> None:
    rows = _rows("memory.json")
    blind = tmp_path / "blind.json"
    blind.write_text(json.dumps([{**row, "measured_gb": None} for row in rows]), "utf-8")
    seen = json.loads(_score("memory", GOLDEN / "memory.json").stdout)["records"]
    unseen = json.loads(_score("memory", blind).stdout)["records"]
    assert [record["predicted"] for record in seen] == [record["predicted"] for record in unseen]


def test_a_wrong_measurement_fails_its_gate(tmp_path: Path) -> None:
    rows = [row for row in _rows("memory.json") if row["id"].startswith("simumax-b200-llama3_70b_tp2")]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps([{**row, "measured_gb": row["measured_gb"] * 1.05} for row in rows]), "utf-8")
    done = _score("memory", wrong)
    assert done.returncode == 1
    assert [record["status"] for record in json.loads(done.stdout)["records"]] == ["off"]


def test_a_file_that_cannot_be_read_is_exit_2(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", "utf-8")
    done = _score("memory", broken)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_a_record_without_a_model_names_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "missing.json"
    config = {"framework": "torchtitan", "fsdp": 8, "seq_len": 4096, "micro_batch": 1, "ac": "full"}
    row = {
        "id": "x",
        "kind": "measured",
        "quality": "A",
        "unit": "GiB",
        "quantity": "active",
        "measured_gb": 1,
    }
    file.write_text(json.dumps([{**row, "config": config}]), "utf-8")
    (record,) = json.loads(_score("memory", file).stdout)["records"]
    assert (record["status"], record["reason"][:20]) == ("inexpressible", "missing field layers")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"micro_batch": 0}, "missing field micro_batch (0 < 1)"),
        ({"tp": -2}, "missing field tp (-2 < 1)"),
        ({"tp": 3}, "not a whole number"),
        ({"pp_stage": 99}, "missing field pp_stage (99 is none of 0 to 0)"),
        ({"seq_len": "long"}, "missing field seq_len"),
        ({"moe_capacity_factor": "\u00b2"}, "missing field moe_capacity_factor"),
    ],
)
def test_what_cannot_be_read_costs_its_row_alone(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    first, second = _rows("memory.json")[:2]
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([{**first, "config": {**first["config"], **change}}, second]), "utf-8")
    odd, plain = json.loads(_score("memory", file).stdout)["records"]
    assert (odd["status"], plain["status"]) == ("inexpressible", "ok")
    assert words in odd["reason"]


@pytest.mark.parametrize("text", ["{}", "7", '"rows"', "null"])
def test_a_file_without_a_list_is_exit_2(text: str, tmp_path: Path) -> None:
    file = tmp_path / "none.json"
    file.write_text(text, "utf-8")
    done = _score("memory", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


ODD = (None, "", 0, -1, 1e400, float("nan"), "text", "-5", "1e9", [], {}, [1], True, 10**30, 0.5, "\u0663")


def test_no_row_however_odd_costs_more_than_itself() -> None:
    """Fields taken away, emptied, negative, endless, of another kind: a line each, and a reason for each."""
    random, rows = Random(7), _rows("memory.json")
    changed: list[Any] = [*ODD]
    for row in rows * 2:
        config = dict(row["config"])
        for name in random.sample(sorted(config), min(2, len(config))):
            config[name] = random.choice(ODD)
        kept = {name: value for name, value in row.items() if random.random() < 0.9}
        changed.append({**kept, "config": config, random.choice(sorted(row)): random.choice(ODD)})
    report = score(changed)
    assert len(report.records) == len(changed)
    for line in report.records:
        assert line.predicted is None or isfinite(line.predicted)
        assert line.status != "inexpressible" or line.reason
    json.dumps(report.as_json(), allow_nan=False)


@pytest.mark.parametrize(
    "model",
    [
        {"model": "Qwen3-8B"},
        {"layers": 27, "hidden": 2048, "heads": 16, "ffn": 11264, "vocab": 163840, "model": "one of ours"},
    ],
    ids=["in-the-catalogue", "spelled-out"],
)
@pytest.mark.parametrize(("off", "status"), [(1.02, "ok"), (0.98, "ok"), (1.05, "off")])
def test_a_bridge_row_whose_model_is_given_is_gated(model: dict[str, Any], off: float, status: str) -> None:
    """At most 3 percent, whichever way the model is given; what is measured decides, not what is said."""
    row = next(row for row in _rows("memory.json") if row["id"] == "mbridge-moonlight16b-none")
    config = {**row["config"], "ep": 1, "dp": 4, **model}
    (blind,) = score([{**row, "config": config, "measured_gb": None}]).records
    assert blind.predicted is not None
    report = score([{**row, "config": config, "measured_gb": blind.predicted * off}])
    assert (report.records[0].group, report.records[0].status) == ("mbridge", status)
    assert report.holds is (status == "ok")


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    """As `score.py memory FILE | head -1` does."""
    command = [sys.executable, str(GOLDEN / "score.py"), "memory", str(GOLDEN / "memory.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")
