"""Every published case, scored as `tests/golden/score.py sharding` scores it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))

from scoring.sharding import REPORTED, score  # noqa: E402

CASES = json.loads((GOLDEN / "sharding.json").read_text("utf-8"))["cases"]
RECORDS = score(CASES).records


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_published_case(record: object) -> None:
    group, status = record.group, record.status  # type: ignore[attr-defined]
    assert status == ("reported" if group in REPORTED else "ok"), record


def test_a_prediction_needs_no_expectation() -> None:
    bare = [{key: value for key, value in case.items() if key != "expected"} for case in CASES]
    for record in score(bare).records:
        assert record.predicted is not None or record.group in REPORTED, record
        assert record.status != "inexpressible", record


def test_a_wrong_digit_is_seen() -> None:
    case = next(case for case in CASES if case["id"] == "A02")
    wrong = [dict(row, global_offset=[0]) for row in case["expected"]]
    report = score([case | {"expected": wrong}])
    assert (report.records[0].status, report.holds) == ("off", False)
