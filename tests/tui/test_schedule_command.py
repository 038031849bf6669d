"""`scaletui schedule` as a person and a script meet it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from scaletui import cli
from scaletui.text.language import set_language
from scaletui_engine.schedule.registry import entry, schedule_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOUR = ("--stages", "4", "--microbatches", "8")


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "80")
    yield
    set_language("en")


def _json(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert cli.main(["schedule", *argv, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json_has_the_keys_that_scripts_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "1f1b", *FOUR)
    assert (found["name"], found["ranks"], found["stages"]) == ("1f1b", 4, 4)
    assert (found["microbatches"], found["chunks"]) == (8, 1)
    assert (found["makespan"], found["max_span"]) == (33, 33)
    assert found["bubble"] == {"A": 9 / 24, "B": 9 / 33, "C": 9 / 33}
    assert (found["idle"], found["peak_chunks"]) == ([9] * 4, [4, 3, 2, 1])
    assert found["actions"][3][:2] == [
        {"action": "3F0", "start": 3, "end": 4},
        {"action": "3B0", "start": 4, "end": 6},
    ]


@pytest.mark.parametrize("name", schedule_names())
def test_every_name_gives_json_and_csv_of_the_same_actions(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _json(capsys, name, *FOUR)
    assert found["stages"] == 4 * entry(name).default_chunks
    assert cli.main(["schedule", name, *FOUR, "--csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows == [",".join(cell["action"] for cell in row) for row in found["actions"]]


@pytest.mark.parametrize(
    ("argv", "makespan"),
    [
        (["gpipe", *FOUR, "--comm", "1"], 39),
        (["1f1b", *FOUR, "--comm", "1"], 49),
        (["1f1b", *FOUR, "--transport", "blocking"], 45),
        (["1f1b", *FOUR, "--forward", "1,1,1,2", "--backward", "2,2,2,4"], 57),
        (
            [
                "interleaved-1f1b",
                *FOUR,
                "--chunks",
                "2",
                "--forward",
                "0.5",
                "--backward",
                "1",
                "--comm",
                "1",
            ],
            46,
        ),
        (["zb-h1", "--stages", "4", "--microbatches", "12", "--forward", "2", "--input-grad", "2"], 69),
        (["dualpipe", "--stages", "8", "--microbatches", "20", "--overlapped", "2"], 52),
        (["zb-auto", *FOUR, "--memory-limit", "4"], 27),
        (["interleaved-1f1b", "--stages", "4", "--microbatches", "10", "--group", "5"], 69),
        (["seq1f1b", *FOUR, "--slices", "1"], 33),
        (["gpipe", "--stages", "1", "--microbatches", "3", "--microbatch-scale", "1,1,0.5"], 7.5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_times_and_choices(argv: list[str], makespan: float, capsys: pytest.CaptureFixture[str]) -> None:
    assert _json(capsys, *argv)["makespan"] == makespan


def test_a_layout_deals_layers_and_chunks(capsys: pytest.CaptureFixture[str]) -> None:
    deepseek = ("interleaved-1f1b", "--stages", "16", "--microbatches", "32", "--layout", "Et*3|(tt|)*29,m|L")
    found = _json(capsys, *deepseek)
    assert (found["layout"], found["stages"], found["chunks"]) == ("Et*3|(tt|)*29,m|L", 32, 2)
    forwards = {cell["action"]: cell["end"] - cell["start"] for row in found["actions"] for cell in row}
    assert [forwards[f"{stage}F0"] for stage in (0, 1, 29, 30, 31)] == [3, 2, 2, 1, 0]
    assert cli.main(["schedule", *deepseek]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "layout, as Megatron-LM writes it: Et*3|(tt|)*29,m|L one time that is given is of one layer" in said
    )
    assert _json(capsys, "1f1b", *FOUR)["layout"] is None


def test_a_scenario_tells_its_layout_and_takes_another(capsys: pytest.CaptureFixture[str]) -> None:
    own = _json(capsys, "--scenario", "llama3-405b-16384")
    assert own["layout"] == "Et*7|(t*8|)*14,t*7L"
    other = ("--scenario", "llama3-405b-16384", "--layout", "E|(t*9|)*14,mL")
    found = _json(capsys, *other)
    assert found["layout"] == "E|(t*9|)*14,mL"
    assert found["makespan"] > own["makespan"]
    assert cli.main(["schedule", *other]) == 0
    assert "m is left out: the model has no multi-token prediction" in capsys.readouterr().out


def test_a_file_takes_the_times_of_a_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "order.csv"
    path.write_text("0F0,0B0\n1F0,1B0\n", encoding="utf-8-sig")
    assert _json(capsys, "--load", str(path))["makespan"] == 6
    assert _json(capsys, "--load", str(path), "--layout", "Et*3|tL")["makespan"] == 12


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["1f1b"], r"missing: --stages --microbatches"),
        (["1f1b", "--stages", "4"], r"missing: --microbatches"),
        (["--stages", "4", "--microbatches", "8"], r"missing: NAME"),
        (["1f2b", *FOUR], r"unknown schedule '1f2b', did you mean '1f1b'\?"),
        (["1f1b", *FOUR, "--chunks", "2"], r"1f1b holds 1 chunks a rank, not 2"),
        (
            ["1F1B", "--stages", "4", "--microbatches", "2"],
            r"microbatches \(2\) >= pipeline ranks \(4\)",
        ),
        (["dualpipe", "--stages", "3", "--microbatches", "8"], r"ranks 3 % 2 = 1; nearest valid: ranks 4"),
        (["1f1b", *FOUR, "--forward", "fast"], r"--forward: 'fast' is not a time, nor times like 1,1,2"),
        (["1f1b", *FOUR, "--forward", "-1"], r"--forward wants a value|forward time -1"),
        (["1f1b", *FOUR, "--forward=-1"], r"forward time -1 is not a number of at least 0"),
        (["1f1b", *FOUR, "--comm", "inf"], r"comm time inf is not a number of at least 0"),
        (["1f1b", *FOUR, "--forward", "1e308"], r"forward time 1e\+308 > 1e\+100; nearest valid"),
        (["interleaved-1f1b", *FOUR, "--group", "0"], r"group 0 is outside ranks 4 ... microbatches 8"),
        (["1f1b", *FOUR, "--stages", "four"], r"--stages: 'four' is not a whole number"),
        (["1f1b", "--stages", "64", "--microbatches", "99999999"], r"64 stages x 99999999 microbatches"),
        (["--load", "no/such.csv"], r"no/such.csv: No such file or directory"),
        (["--load", "."], r"\.: Is a directory"),
        (["1f1b", "--scenario", "llama3-8b-8", "--stages", "4"], r"--stages does not go with --scenario"),
        (["1f1b", *FOUR, "--trace", "no/such/folder.json"], r"no/such/folder.json: No such file"),
        (["1f1b", *FOUR, "--compare", "gpipe,what"], r"unknown schedule 'what'"),
        (["1f1b", *FOUR, "--json", "--csv"], r"--csv does not go with --json"),
        (["1f1b", *FOUR, "--layout", "Et|x|tL"], r"layout, column 4: 'x' in 'Et\|x\|tL' is none of E t m L"),
        (["1f1b", *FOUR, "--layout", "Et|t|tL"], r"layout has 3 stages, not a multiple of 4 pipeline ranks"),
        (["1f1b", *FOUR, "--layout", "Et|tL", "--chunks", "1"], r"--chunks does not go with --layout"),
        (["1f1b", *FOUR, "--layout", "Et|tL", "--compare", "gpipe"], r"--compare does not go with --layout"),
        (
            ["1f1b", *FOUR, "--microbatch-scale", "1,1,2"],
            r"microbatch scale names 3 times for 8 microbatches; nearest valid: 1 or 8 times",
        ),
        (["1f1b", *FOUR, "--microbatch-scale", "1,x"], r"--microbatch-scale: '1,x' is not a time"),
        (["1f1b", *FOUR, "--layout", " "], r"--layout wants a value"),
        (["--layout", "Et|tL"], r"missing: NAME"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_unusable_input_is_one_line_and_two(
    argv: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["schedule", *argv]) == cli.UNUSABLE_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert re.search(line, captured.err)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0F0,0B0\n1B0,1F0\n", r"rank 1, step 0: 1B0 runs before 1F0"),
        ("0F0,0B0\n1F0x,1B0\n", r"order.csv: line 2, column 1: '1F0x' is not an action"),
        (
            "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0",
            r"deadlock: rank 0 at 0B0 waits for 1B0 of rank 1; rank 1",
        ),
        ("0F0,0B0,1F0,1B0\n1F0,1B0", r"stage 1 is on rank 0 and on rank 1"),
        ("", r"order.csv: the file has no action"),
    ],
)
def test_a_file_that_cannot_run(
    text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "order.csv"
    path.write_text(text)
    assert cli.main(["schedule", "--load", str(path)]) == cli.UNUSABLE_INPUT
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert re.search(line, captured.err)


def test_a_file_is_simulated_and_checked_against_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "order.csv"
    assert cli.main(["schedule", "LoopedBFS", *FOUR, "--csv"]) == 0
    path.write_text(capsys.readouterr().out)
    assert _json(capsys, "--load", str(path))["makespan"] == 57
    assert cli.main(["schedule", "ZBVZeroBubble", "--load", str(path)]) == cli.UNUSABLE_INPUT
    assert (
        "rank 0 holds stages [0, 4], but ZBVZeroBubble places them as {0: [0, 7]" in capsys.readouterr().err
    )


def test_old_letters_are_translated_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.csv"
    path.write_text("0F0,0BW0\n")
    assert cli.main(["schedule", "--load", str(path)]) == 0
    assert "letters of 2024: B is read as I, BW as B" in capsys.readouterr().out
    assert cli.main(["schedule", "--load", str(path), "--csv"]) == 0
    assert capsys.readouterr().out == "0F0,0B0\n"


def test_lowered_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", "1F1B", "--stages", "2", "--microbatches", "2", "--comms"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        "1UNSHARD,1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1RESHARD"
    )


def test_trace_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, picture = tmp_path / "trace.json", tmp_path / "picture.svg"
    assert cli.main(["schedule", "zb-v", *FOUR, "--trace", str(trace), "--svg", str(picture), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "zb-v"
    assert json.loads(trace.read_text())["otherData"]["schedule"] == "zb-v"
    assert picture.read_text().startswith("<svg ")


def test_plain_is_a_line_a_rank(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", "1f1b", *FOUR, "--plain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == "r3 ......F0B0--F1B1--F2B2--F3B3--F4B4--F5B5--F6B6--F7B7--............"


@pytest.mark.parametrize("lang", ["en", "pt-BR"])
@pytest.mark.parametrize("argv", [["dualpipe"], ["pipedream"], ["--compare", "all"]], ids=" ".join)
def test_reports_fit_eighty_columns(argv: list[str], lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", *argv, *FOUR, "--lang", lang]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_few_microbatches_are_warned_of_and_not_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", "1f1b", "--stages", "4", "--microbatches", "1"]) == 0
    assert "warning: ranks idle 75 % of the time" in capsys.readouterr().out


def test_compare_puts_the_same_ranks_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "1f1b", *FOUR, "--compare", "zb-v,dualpipe,1F1B")
    assert [each["name"] for each in found["schedules"]] == ["1f1b", "zb-v", "dualpipe", "1F1B"]
    assert [each["makespan"] for each in found["schedules"]] == [33, 25.5, 26, 33]
    assert found["basis"] == "ranks"
    found = _json(capsys, *FOUR, "--compare", "zb-v,1f1b", "--basis", "stages")
    assert [each["ranks"] for each in found["schedules"]] == [2, 4]


def test_compare_names_who_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", "--stages", "3", "--microbatches", "4", "--compare", "all"]) == 0
    out = capsys.readouterr().out
    unwrapped = " ".join(out.split())
    assert "dualpipe: dualpipe runs from both ends: ranks 3 % 2 = 1; nearest valid: ranks 4" in unwrapped
    assert re.search(r"^zb-v +\d", out, re.MULTILINE)


def test_a_scenario_gives_shape_times_and_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "--scenario", "llama3-405b-16384")
    assert (found["name"], found["ranks"], found["unit"], found["estimated"]) == ("1f1b", 16, "s", True)
    assert found["makespan"] > found["ideal"] > 0
    assert len(found["peak_bytes"]) == 16
    assert "estimate.achieved_rate" in found["assumptions"]
    other = _json(capsys, "zb-h1", "--scenario", "llama3-405b-16384")
    assert other["name"] == "zb-h1"
    assert other["makespan"] < found["makespan"]


def test_repeated_blocks_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    shape = ("v-half", "--stages", "8", "--microbatches", "32")
    assert _json(capsys, *shape, "--no-reorder")["max_span"] == 218
    assert _json(capsys, *shape)["max_span"] == 209


@pytest.mark.parametrize(
    ("name", "factors"), [("1f1b", (1, 1, 1, 1)), ("pipedream", (4, 3, 2, 1)), ("dualpipe", None)]
)
def test_weights_in_bytes_of_the_scenarios_model(
    name: str, factors: tuple[int, ...] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """PipeDream keeps a version a microbatch in flight, DualPipe the stages of both directions."""
    path = tmp_path / "scenario.toml"
    path.write_text(
        '[model]\nlike = "llama3-8b"\n'
        '[cluster]\ngpu = "h100-sxm"\ngpus = 4\n[plan]\npp = 4\nglobal_batch = 8\n'
    )
    one = _json(capsys, "1f1b", "--scenario", str(path))["weights_bytes"]
    found = _json(capsys, name, "--scenario", str(path))["weights_bytes"]
    if factors is None:
        assert found == [here + there for here, there in zip(one, reversed(one), strict=True)]
    else:
        assert found == [factor * held for factor, held in zip(factors, one, strict=True)]
    assert cli.main(["schedule", name, "--scenario", str(path)]) == 0
    assert "weights by rank, all copies and versions: " in " ".join(capsys.readouterr().out.split())
    assert _json(capsys, name, *FOUR)["weights_bytes"] is None


@pytest.mark.parametrize(
    ("extra", "starts", "period"),
    [((), [27, 27, 27, 27], 29), (("--each-alone",), [24, 25, 26, 27], 26)],
    ids=["after all", "each alone"],
)
def test_the_optimizer_step(
    extra: tuple[str, ...],
    starts: list[int],
    period: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """ZB-H2's ranks have spans of 24 and end one after the other (arXiv:2401.10241, section 4)."""
    argv = ("zb-h2", *FOUR, "--optimizer-step", "2", *extra)
    step = _json(capsys, *argv)["optimizer"]
    assert (step["start"], step["period"]) == (starts, period)
    assert step["end"] == [start + 2 for start in starts]
    path = tmp_path / "picture.svg"
    assert cli.main(["schedule", *argv, "--svg", str(path)]) == 0
    assert f"a training step every {period} t" in " ".join(capsys.readouterr().out.split())
    assert path.read_text().count("<title>optimizer step</title>") == 4


@pytest.mark.parametrize("time", ["-1", "nan", "inf"])
def test_an_optimizer_step_that_is_no_time(time: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", "1f1b", *FOUR, f"--optimizer-step={time}"]) == 2
    assert f"optimizer step time {time} is not a number of at least 0" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["1f1b", "GPipe", "interleaved-1f1b"])
def test_megatrons_signed_chunks_come_back(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["schedule", name, *FOUR, "--chunk-order"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0].startswith("1 1 1 1 ")
    path = tmp_path / "order.txt"
    path.write_text(text)
    found = _json(capsys, "--load", str(path))
    assert found["actions"] == _json(capsys, name, *FOUR)["actions"]
    assert cli.main(["schedule", "--load", str(path)]) == 0
    assert "signed chunks, as Megatron-LM orders them" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("zb-h1", "I has no sign in a chunk order: F and B only"),
        ("gpipe", "0B7 comes as number 0 of its chunk, but a chunk order counts microbatches upwards"),
    ],
)
def test_what_signed_chunks_cannot_say(name: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", name, *FOUR, "--chunk-order"]) == 2
    assert capsys.readouterr().err == f"scaletui: {name}: {why}\n"


@pytest.mark.parametrize("form", ["--csv", "--comms"])
@pytest.mark.parametrize("name", ["dualpipe", "dualpipev", "1f1b"])
def test_an_order_that_pytorch_cannot_run_is_written_with_a_word_about_it(
    name: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its runtime keeps a stage on one rank; standard output holds the order alone."""
    assert cli.main(["schedule", name, *FOUR, form]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 4
    note = (
        "scaletui: dualpipe: not for PyTorch's runtime, which wants one rank a stage; dualpipev runs there\n"
    )
    assert printed.err == (note if name == "dualpipe" else "")
