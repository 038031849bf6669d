"""What `scaletui schedule` refuses, in one clear line and in the reader's language."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from scaletui import cli
from scaletui.text.language import set_language

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOUR = ("--stages", "4", "--microbatches", "8")


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    yield
    set_language("en")


@pytest.mark.parametrize("option", ["--svg", "--trace", "--load", "--compare", "--scenario"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_option_that_was_given_nothing(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["schedule", "1f1b", *FOUR, option, value]) == 2
    assert capsys.readouterr().err == f"scaletui: {option} wants a value\n"


DIGITS = "7" * 40


@pytest.mark.parametrize(
    "argv",
    [
        ("1f1b", "--stages", DIGITS, "--microbatches", "4"),
        ("1f1b", "--stages", "4", "--microbatches", DIGITS),
        ("1f1b", "--stages", "4", "--microbatches", f"{DIGITS}x"),
        ("1f1b", *FOUR, "--forward", f"{DIGITS}x"),
        ("interleaved-1f1b", *FOUR, "--group", DIGITS),
        ("zb-v", *FOUR, "--chunks", DIGITS),
        ("seq1f1b", *FOUR, "--slices", DIGITS),
    ],
    ids=" ".join,
)
def test_refusals_repeat_the_start_of_a_long_value(
    argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["schedule", *argv]) == 2
    said = capsys.readouterr().err
    assert max(map(len, re.findall(r"\d+", said))) == 20
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (
            ("--compare", "all", "--forward", "0", "--input-grad", "0", "--weight-grad", "0"),
            "forward 0 + backward 0 = 0: no action takes any time",
        ),
        (("--compare", "dualpipe", "--chunks", "1"), "dualpipe needs microbatches (4) >= 2 x ranks (8)"),
    ],
    ids=["no time", "one that refuses"],
)
def test_a_comparison_in_which_nothing_runs_is_refused(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["schedule", "--stages", "4", "--microbatches", "4", *argv]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("time", "makespan"), [("1e30", "3.3e+31 t"), ("1e-9", "3.3e-08 t"), ("1", "33 t"), ("0.25", "8.25 t")]
)
def test_times_far_from_one_show_no_noise(
    time: str, makespan: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ("--forward", time, "--input-grad", time, "--weight-grad", time)
    assert cli.main(["schedule", "1f1b", *FOUR, *argv]) == 0
    assert f"makespan {makespan}," in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("dualpipe", "--stages", "3", "--microbatches", "6"), "corre a partir das duas pontas"),
        (
            ("1F1B", "--stages", "4", "--microbatches", "2"),
            "1F1B precisa de micro-lotes (2) >= ranks do pipeline (4)",
        ),
        (("1f1b", *FOUR, "--forward", "1,2"), "forward dá 2 tempos para 4 estágios"),
        (("1f1b", *FOUR, "--forward", "nan"), "não é um número de pelo menos 0"),
        (("zb-auto", *FOUR, "--memory-limit", "0.5"), "limite de memória 0.5 < 1 micro-lote"),
        (("1f1b", "--stages", "4", "--microbatches", "0"), "micro-lotes 0 < 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refusals_in_portuguese(argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", *argv, "--lang", "pt-BR"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0F0,0Q1", "linha 1, coluna 2: '0Q1' tem o tipo desconhecido 'Q'"),
        ("0B0,0F0", "roda antes de 0F0"),
        ("0F0,0B0\n1B0,1F0", "rank 1, passo 0: 1B0 roda antes de 1F0"),
        ("0F0,0B0,1F0,1B0", "impasse: o rank 0 em 0B0 espera por 1B0 do rank 0"),
        ("", "o arquivo não tem nenhuma ação"),
    ],
    ids=["kind", "early", "early on rank 1", "deadlock", "empty"],
)
def test_what_is_wrong_with_a_file_in_portuguese(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "order.csv"
    path.write_text(text)
    assert cli.main(["schedule", "--load", str(path), "--lang", "pt-BR"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("transport", ["async", "blocking", "in-order", "late-launch"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0", "0RECV_B0 has no 1SEND_B0 (and 1 more)"),
        ("0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0", "0SEND_F0 again"),
    ],
    ids=["without its other end", "twice"],
)
def test_messages_of_a_file_are_judged_however_they_travel(
    text: str, said: str, transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "order.csv"
    path.write_text(text)
    assert cli.main(["schedule", "--load", str(path), "--transport", transport]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("1f1b", *FOUR, "--group", "4"), "--group does not go with 1f1b"),
        (("1f1b", *FOUR, "--slices", "2"), "--slices does not go with 1f1b"),
        (("1f1b", *FOUR, "--memory-limit", "2"), "--memory-limit does not go with 1f1b"),
        (("zb-v", *FOUR, "--no-reorder"), "--no-reorder does not go with zb-v"),
        (("1f1b", *FOUR, "--replicas"), "--replicas wants --load"),
        (("1f1b", *FOUR, "--each-alone"), "--each-alone wants --optimizer-step"),
        (("1f1b", *FOUR, "--basis", "ranks"), "--basis wants --compare"),
        (("--load", "README.md", "--stages", "4"), "--stages does not go with --load"),
        (("--load", "README.md", "--chunks", "2"), "--chunks does not go with --load"),
        (("--load", "README.md", "--scenario", "llama3-405b-16384"), "--scenario does not go with --load"),
        (("1f1b", *FOUR, "--compare", "gpipe", "--csv"), "--csv does not go with --compare"),
        (("1f1b", *FOUR, "--compare", "gpipe", "--svg", "x.svg"), "--svg does not go with --compare"),
        (
            ("1f1b", *FOUR, "--compare", "gpipe", "--optimizer-step", "1"),
            "--optimizer-step does not go with --compare",
        ),
        (
            ("--scenario", "llama3-405b-16384", "--compare", "gpipe", "--basis", "ranks"),
            "--basis does not go with --scenario",
        ),
        (("--scenario", "llama3-405b-16384", "--slices", "2"), "--slices does not go with 1f1b"),
        (("1f1b", *FOUR, "--microbatch-scale", "0"), "what all ranks compute = 0: no action takes any time"),
        (
            ("zb-h1", *FOUR, "--forward", "0", "--input-grad", "0", "--weight-grad", "0", "--backward", "1"),
            "what all ranks compute = 0: no action takes any time",
        ),
        (("1f1b", *FOUR, "--trace", "/dev/full"), "/dev/full: No space left on device"),
        (("1f1b", *FOUR, "--svg", "/dev/full"), "/dev/full: No space left on device"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_says_or_writes_nothing_is_refused(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["schedule", *argv]) == 2
    assert capsys.readouterr().err == f"scaletui: {said}\n"


def test_a_comparison_gives_every_option_to_the_schedules_that_read_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """zb-auto under 2 microbatches, sequences in 4 slices, and 1f1b that looks at neither."""
    argv = ("--compare", "1f1b,zb-auto,seq1f1b", "--memory-limit", "2", "--slices", "4", "--json")
    assert cli.main(["schedule", *FOUR, *argv]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["schedules"]}
    assert max(found["zb-auto"]["peak_chunks"]) == 2
    assert found["seq1f1b"]["slices"] == 4
    assert found["1f1b"]["makespan"] == 33


def test_a_scenario_takes_the_choices_of_its_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for slices in ("2", "4"):
        argv = ("seq1f1b", "--scenario", "llama3-405b-16384", "--slices", slices, "--json")
        assert cli.main(["schedule", *argv]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert [each["slices"] for each in found] == [2, 4]
    assert found[1]["makespan"] < found[0]["makespan"]


@pytest.mark.parametrize(("basis", "makespans"), [("ranks", [18.5, 18.5, 21]), ("stages", [37, 37, 27])])
def test_a_file_is_compared_with_the_schedules_for_its_shape(
    basis: str, makespans: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ZB-V on 2 ranks: 1F1B beside it has the same ranks, or one rank a stage: (6 + 3) x 3 t."""
    assert cli.main(["schedule", "zb-v", "--stages", "2", "--microbatches", "6", "--csv"]) == 0
    path = tmp_path / "order.csv"
    path.write_text(capsys.readouterr().out)
    argv = ("--load", str(path), "--compare", "zb-v,1f1b", "--basis", basis, "--json")
    assert cli.main(["schedule", *argv]) == 0
    found = json.loads(capsys.readouterr().out)["schedules"]
    assert [each["name"] for each in found] == [str(path), "zb-v", "1f1b"]
    assert [each["makespan"] for each in found] == makespans
    assert found[0]["actions"] == found[1]["actions"]


def test_an_order_and_its_picture_in_one_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.json"
    assert cli.main(["schedule", "1f1b", *FOUR, "--csv", "--trace", str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert json.loads(path.read_text())
