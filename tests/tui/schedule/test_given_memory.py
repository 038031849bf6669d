"""Memory that is given an action, signed, and what is compared with the first schedule."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from scaletui import cli
from scaletui.text.language import set_language
from scaletui_engine.schedule.registry import schedule_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOUR = ("--stages", "4", "--microbatches", "8")
PAIRED = ("dualpipe", "dualpipev", "DualPipeV", "combined-1f1b")
"""Schedules whose cells may hold two actions at once."""


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "80")
    yield
    set_language("en")


def found(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert cli.main(["schedule", *argv, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def counted(actions: Sequence[dict[str, Any]], change: dict[str, float]) -> float:
    """The peak of one rank by hand: what rises is there from an action's start, what falls until its end."""
    level = peak = 0.0
    for cell in actions:
        kind = re.sub(r"\d", "", cell["action"])
        peak = max(peak, level + max(change[kind], 0.0))
        level += change[kind]
    assert level == pytest.approx(0.0, abs=1e-9)
    return peak


@pytest.mark.parametrize("input_grad", [0.3, 0.0, -0.4, -1.5])
@pytest.mark.parametrize("name", [name for name in schedule_names() if name not in (*PAIRED, "seq1f1b")])
def test_the_peak_is_that_of_a_count_by_hand(
    name: str, input_grad: float, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--forward-memory", "2", "--input-grad-memory", str(input_grad))
    answer = found(capsys, name, *FOUR, *given)
    change = {"F": 2.0, "I": input_grad, "W": -2.0 - input_grad, "B": -2.0}
    assert answer["peak_memory"] == pytest.approx([counted(row, change) for row in answer["actions"]])
    assert answer["peak_bytes"] is None


def test_stages_differ(capsys: pytest.CaptureFixture[str]) -> None:
    """Rank r holds p - r chunks at its peak, each of its own stage."""
    answer = found(capsys, "1f1b", *FOUR, "--forward-memory", "1,10,100,1000")
    assert answer["peak_memory"] == [4, 30, 200, 1000]


def test_the_search_counts_with_what_an_input_gradient_frees(capsys: pytest.CaptureFixture[str]) -> None:
    """Freed early, a rank under the same limit runs further ahead."""
    limited = ("zb-auto", *FOUR, "--memory-limit", "5")
    early = found(capsys, *limited, "--input-grad-memory", "-0.9")
    late = found(capsys, *limited, "--input-grad-memory", "0")
    assert max(*early["peak_memory"], *late["peak_memory"]) <= 5
    assert max(early["peak_chunks"]) > max(late["peak_chunks"])


@pytest.mark.parametrize("input_grad", ["0.2", "0.5", "1.5"])
@pytest.mark.parametrize("limit", ["2.5", "3", "4.4", "5"])
def test_the_search_leaves_room_for_an_input_gradient_that_adds(
    limit: str, input_grad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = found(capsys, "zb-auto", *FOUR, "--memory-limit", limit, "--input-grad-memory", input_grad)
    assert max(answer["peak_memory"]) <= float(limit)


def test_it_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", "zb-h1", *FOUR, "--input-grad-memory", "0.3"]) == 0
    assert "peak of the memory that was given, by rank: 4.3 4.6 4.9 5.2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["--weight-grad-memory", "3"], r"memory of stage 0: F \+1 I \+0 W \+3 = 4, not 0"),
        (["--forward-memory", "1,2"], "2 memory deltas for 4 stages; nearest valid: 1 or 4 deltas"),
        (["--forward-memory", "1,2", "--input-grad-memory", "1,2,3"], "2 memory deltas for 4 stages"),
        (["--forward-memory", "much"], "--forward-memory: 'much' is not a number, nor numbers like 1,-0.5"),
        (["--forward-memory", "nan"], r"memory delta nan is not a number of at most 1e\+100"),
        (["--input-grad-memory=-inf"], r"memory delta -inf is not a number of at most 1e\+100"),
        (["--scenario", "llama3-405b-16384", "--forward-memory", "1"], "does not go with --scenario"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_memory_that_is_none(argv: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    shape = () if "--scenario" in argv else FOUR
    assert cli.main(["schedule", "1f1b", *shape, *argv]) == cli.UNUSABLE_INPUT
    assert re.search(f"^scaletui: .*{line}", capsys.readouterr().err)


def test_changes_are_signed_and_from_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    """GPipe and 1F1B take 33 t, ZB-H1 27 t; their ranks hold 8, 4 and 4 microbatches."""
    each = found(capsys, "1f1b", *FOUR, "--compare", "gpipe,zb-h1")["schedules"]
    assert [entry["change"]["makespan"] for entry in each] == [0, 0, -6]
    assert [entry["change"]["peak_microbatches"] for entry in each] == [0, 4, 0]
    assert [entry["change"]["B"] for entry in each] == pytest.approx([0, 0, 3 / 27 - 9 / 33])
    assert cli.main(["schedule", "1f1b", *FOUR, "--compare", "gpipe,zb-h1,naive"]) == 0
    rows = {row.split()[0]: row for row in capsys.readouterr().out.splitlines()}
    assert "change" in rows["schedule"]
    assert re.search(r"27 t +-18.2 %", rows["zb-h1"])
    assert re.search(r"96 t +\+190.9 %", rows["naive"])
    assert re.search(r"33 t +0.0 %", rows["1f1b"])


def test_memory_compared_is_of_all_that_a_rank_holds(capsys: pytest.CaptureFixture[str]) -> None:
    each = found(capsys, *FOUR, "--compare", "1f1b,zb-v", "--forward-memory", "6")["schedules"]
    assert [max(entry["peak_memory"]) for entry in each] == [24, 24]
    assert cli.main(["schedule", *FOUR, "--compare", "1f1b,zb-v", "--forward-memory", "6"]) == 0
    assert re.search(r"^1f1b .* 24$", capsys.readouterr().out, re.MULTILINE)
