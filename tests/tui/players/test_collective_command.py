"""`scaletui collective`: what it prints, as text and as JSON, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scaletui import cli
from scaletui.text.language import set_language
from scaletui_engine.collectives.family import FAMILY
from scaletui_engine.collectives.wire import sent_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "100")
    yield
    set_language("en")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["collective", *words]) == 0
    return capsys.readouterr().out


def test_a_ring_of_four(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "all-reduce", "--bytes", "4MiB", "--ascii").splitlines()
    assert lines[0] == "ring all-reduce of 4 MiB over 4 ranks, 6 steps"
    assert lines[1] == "a rank sends at most 6 MiB = 2(n-1)/n x 4 MiB"
    assert lines[5].split() == [
        "1",
        "reduce-scatter",
        "0>1",
        "+b3",
        "1>2",
        "+b0",
        "2>3",
        "+b1",
        "3>0",
        "+b2",
        "1",
        "MiB",
    ]
    assert lines[-1].split() == [
        "6",
        "all-gather",
        "0>1",
        "b2",
        "1>2",
        "b3",
        "2>3",
        "b0",
        "3>0",
        "b1",
        "6",
        "MiB",
    ]
    assert max(map(len, lines)) <= 100


def test_messages_that_leave_a_node_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "all-reduce", "--algorithm", "hierarchical", "--ranks", "4", "--per-node", "2")
    assert "0>2 +b1!" in text
    assert "0>1 +b2-3 " in text


@pytest.mark.parametrize("op", list(FAMILY))
def test_json_adds_up(capsys: pytest.CaptureFixture[str], op: str) -> None:
    found = json.loads(printed(capsys, str(op), "--ranks", "8", "--bytes", "1MiB", "--json"))
    sent = [0] * 8
    for step in found["steps"]:
        for message in step["messages"]:
            sent[message["from"]] += message["bytes"]
    assert sent == found["sent_bytes"]
    (kind,) = [each for each in FAMILY if each.value == op]
    assert found["most_sent_bytes"] == max(sent) == sent_bytes(kind, 1 << 20, 8)
    assert {message["leaves_node"] for step in found["steps"] for message in step["messages"]} == {False}


def test_many_messages_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "all-to-all", "--ranks", "128")
    assert "124 more" in text or "123 more" in text
    assert len(text.splitlines()) == 5 + 127


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("allreduce",), "unknown collective 'allreduce', did you mean 'all-reduce'?"),
        (("all-reduce", "--algorithm", "halvin"), "'halvin', did you mean 'halving'?"),
        (("all-gather", "--algorithm", "tree"), "'tree', not one of ring"),
        (("all-reduce", "--algorithm", "halving", "--ranks", "6"), "6 ranks are no power of 2"),
        (("all-reduce", "--ranks", "1"), "1 ranks are not in 2 <= ranks <= 128"),
        (("all-reduce", "--ranks", "129"), "129 ranks are not in 2 <= ranks <= 128"),
        (("all-reduce", "--bytes", "3"), "3 bytes / 4 ranks = 0.75, less than 1"),
        (("all-reduce", "--bytes", "much"), "'much' is not a size like 80GiB or 80GB"),
        (("all-reduce", "--per-node", "5"), "5 ranks per node are not in 1 <= per node <= ranks = 4"),
        (("all-reduce", "--algorithm", "hierarchical", "--per-node", "3"), "4 ranks / 3 per node ="),
    ],
)  # fmt: skip
def test_refusals(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    assert cli.main(["collective", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
