"""scaletui memory beyond the budget: the step, the parts taken apart, limits, changes, comparison, host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaletui import cli
from scaletui.text.language import set_language
from scaletui_engine.memory.budget import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

LLAMA = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8")
ROOMY = ("--model", "llama3-8b", "--gpu", "h200-sxm", "--gpus", "8")
TIGHT = ("--model", "llama3-8b", "--gpu", "a100-sxm-40", "--gpus", "8")
PIPELINE = (*LLAMA, "--pp", "4", "--global-batch", "64")
EXPERTS = ("--scenario", "deepseek-v3-2048")
EVERYTHING = (
    "--timeline", "--explain", "--solve", "seq", "--fix", "--compare", "llama3-70b-16", "--host", "--tools",
)  # fmt: skip
CONTRACT = [
    "model", "params", "params_active", "gpu", "capacity_bytes", "capacity_is_nominal", "stages",
    "peak_bytes", "peak_stage", "fits", "headroom_bytes", "assumptions",
]  # fmt: skip
"""Keys that are there whatever is asked."""
DEEPSPEED = """
[model]
id = "llama3-8b"
[cluster]
gpu = "h100-sxm"
gpus = 8
host_memory = "{host}"
[plan]
strategy = "zero3"
offload = "optimizer"
[plan.runtime]
framework = "deepspeed"
"""


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(Path(__file__).parents[2])
    yield
    set_language("en")


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert cli.main(["memory", *argv]) == 0
    return capsys.readouterr().out


def answered(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    return json.loads(said(capsys, *argv, "--json"))


@pytest.mark.parametrize(
    ("argv", "keys"),
    [
        ([], []),
        (["--timeline"], ["timeline"]),
        (["--explain"], ["explain"]),
        (["--solve", "gpus"], ["solve"]),
        (["--fix"], ["fixes"]),
        (["--compare", "llama3-8b-8"], ["compare"]),
        (["--host"], ["host"]),
        (["--tools"], ["tools"]),
        (["--offload", "optimizer"], ["host"]),
        (list(EVERYTHING), ["timeline", "explain", "solve", "fixes", "compare", "host", "tools"]),
    ],
    ids=" ".join,
)
def test_each_option_adds_its_key(
    argv: list[str], keys: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(answered(capsys, *LLAMA, *argv)) == CONTRACT + keys


@pytest.mark.parametrize(
    "plan", [LLAMA, TIGHT, PIPELINE, EXPERTS], ids=["fits", "tight", "pipeline", "experts"]
)
@pytest.mark.parametrize("lang", ["en", "pt-BR"])
@pytest.mark.parametrize("look", [[], ["--ascii"]], ids=["unicode", "ascii"])
def test_reports_fit_eighty_columns(
    plan: tuple[str, ...], lang: str, look: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, *plan, *EVERYTHING, "--offload", "optimizer", "--lang", lang, *look)
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(("…", "~"))] == []
    assert lang != "en" or not look or out.isascii()


@pytest.mark.parametrize("stage", [None, 0, 3])
def test_the_step_peaks_where_the_budget_does(stage: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [] if stage is None else ["--stage", str(stage)]
    found = answered(capsys, *PIPELINE, "--timeline", *asked)
    step = found["timeline"]
    assert step["stage"] == (found["peak_stage"] if stage is None else stage)
    assert max(point["bytes"] for point in step["points"]) == step["points"][step["peak"]]["bytes"]
    assert step["points"][step["peak"]]["bytes"] == found["stages"][step["stage"]]["peak_bytes"]
    assert all(point["bytes"] == sum(point["parts"].values()) for point in step["points"])
    times = [point["time"] for point in step["points"]]
    assert times == sorted(times)


def test_the_curve_marks_what_is_over_the_capacity(capsys: pytest.CaptureFixture[str]) -> None:
    over, within = said(capsys, *TIGHT, "--timeline"), said(capsys, *LLAMA, "--timeline")
    assert "╱ is over the capacity" in over
    assert "╱╱" in over.split("one step of stage 0")[1]
    assert "is over the capacity" not in within
    assert "peak 40.0 GiB: the loss" in within
    assert "●  the loss" in within


def test_a_long_step_says_how_much_of_it_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *LLAMA, "--global-batch", "80", "--timeline")
    assert "drawn: 3 of 10 microbatches" in out


def test_terms_add_up_to_the_parts(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, *PIPELINE, "--explain", "--stage", "1")
    sums = dict.fromkeys(PARTS, 0)
    for item in found["explain"]["items"]:
        sums[item["part"]] += item["bytes"]
        assert item["formula"]
        assert item["source"]
    assert sums == found["stages"][1]["parts"]
    weights = next(item for item in found["explain"]["items"] if item["name"] == "weights.states")
    assert sum(tensor["bytes"] for tensor in weights["tensors"]) == weights["bytes"]


def test_every_part_with_bytes_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *LLAMA, "--explain")
    titles = [line.split(" on stage ")[0][2:] for line in out.splitlines() if " on stage 0 ─" in line]
    assert titles == ["weights", "optimizer", "activations", "loss", "unsharded"]
    assert "ZeRO, arXiv:1910.02054, section 3.1" in out
    assert "layers.{layer}.feed_forward.w1 14336x4096 × 32" in out


@pytest.mark.parametrize(
    ("what", "field", "option", "step"),
    [
        ("micro-batch", "micro_batch", "--micro-batch", 1),
        ("seq", "seq", "--seq", 1),
        ("gpus", "gpus", "--gpus", -1),
    ],
)
def test_solutions_fit_and_the_next_value_does_not(
    what: str, field: str, option: str, step: int, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "16", "--tp", "1")
    solved = answered(capsys, *scenario, "--solve", what)["solve"]
    assert solved["field"] == field
    assert solved["headroom_bytes"] >= 0
    again = answered(capsys, *scenario, option, str(solved["value"]))
    assert again["headroom_bytes"] == solved["headroom_bytes"]
    if solved["bound"] is None:
        beyond = answered(capsys, *scenario, option, str(solved["value"] + step))
        assert not beyond["fits"]
    else:
        assert solved["value"] == solved["bound"]


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ([*LLAMA, "--solve", "micro-batch"], "largest micro-batch that fits: "),
        ([*ROOMY, "--solve", "seq"], "longest sequence that fits: 8,192, now 4,096"),
        ([*ROOMY, "--solve", "seq"], "the model's longest sequence; memory would allow more"),
        ([*LLAMA, "--solve", "gpus"], "fewest GPUs that fit: "),
        (
            ["--model", "llama3-405b", "--gpu", "t4", "--gpus", "8", "--solve", "seq"],
            "sequence: no value fits",
        ),
        (
            ["--model", "llama3-405b", "--gpu", "t4", "--gpus", "8", "--solve", "seq"],
            "--fix ranks the other changes by what they save",
        ),
    ],
)
def test_solutions_in_words(argv: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert line in said(capsys, *argv)


def test_changes_are_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, *TIGHT, "--fix")
    fixes = found["fixes"]
    enough = [fix["fits"] for fix in fixes]
    assert enough == sorted(enough, reverse=True)
    assert any(enough)
    assert all(fix["headroom_bytes"] - found["headroom_bytes"] == fix["saved_bytes"] > 0 for fix in fixes)
    full = next(fix for fix in fixes if fix["id"] == "fix.recompute_full")
    assert (full["field"], full["value"]) == ("recompute", "full")
    assert full["cost"] == {"why": "cost.compute", "percent": 33, "bytes": None}
    out = said(capsys, *TIGHT, "--fix")
    assert "✓  recompute full" in out
    assert "+33 % compute" in out


@pytest.mark.parametrize("other", ["llama3-8b-8", "llama3-70b-16", "llama3-405b-16384"])
def test_differences_are_the_others_less_this_ones(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, *LLAMA, "--micro-batch", "2", "--compare", other)
    alone = answered(capsys, "--scenario", other)
    compared = found["compare"]
    assert compared["other"] == alone
    mine, theirs = found["stages"][found["peak_stage"]], alone["stages"][alone["peak_stage"]]
    change = compared["difference"]
    assert change["headroom_bytes"] == alone["headroom_bytes"] - found["headroom_bytes"]
    assert change["peak_bytes"] == theirs["peak_bytes"] - mine["peak_bytes"] == sum(change["parts"].values())
    assert compared["fields"]["micro_batch"] == ["2", "1"]


def test_a_scenario_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--scenario", "llama3-8b-8", "--compare", "llama3-8b-8")
    assert "no field differs" in out
    assert "+" not in out.split("this scenario and the other")[1]


@pytest.mark.parametrize(
    ("host", "verdict"),
    [("1000GiB", "fits the node's 1,000.0 GiB"), ("100GiB", "does not fit the node's 100.0 GiB, over by")],
)
def test_a_node_by_the_paper_and_as_seen(
    host: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """deepspeedai/DeepSpeed issue 7693: 28 bytes a parameter where ZeRO-Offload's paper counts 16."""
    file = tmp_path / "offload.toml"
    file.write_text(DEEPSPEED.format(host=host), encoding="utf-8")
    found = answered(capsys, "--scenario", str(file))
    low, high = found["host"]["states_bytes"]
    assert (low, high) == (16 * found["params"], 28 * found["params"])
    assert found["host"]["fits"] == verdict.startswith("fits")
    out = said(capsys, "--scenario", str(file))
    assert verdict in out
    assert "states, observed" in out
    assert "a checkpoint" not in out


def test_tools_say_why_they_differ(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *LLAMA, "--tools")
    assert "the ZeRO paper                14.96  the same" in out
    assert "accelerate estimate-memory    59.83  it prints the largest of its four entries," in out
    one = answered(capsys, *LLAMA, "--tools")["tools"][2]
    assert (one["tool"], one["reasons"]) == (
        "tool.deepspeed_zero3",
        ["why.largest_layer", "why.fp32_gradients"],
    )


def test_host_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, *LLAMA, "--host")
    host, size = found["host"], 4 * found["params"]
    assert (host["offloaded"], host["needed_bytes"]) == (False, [0, 0])
    assert host["loading_bytes"] == {"every_rank": 8 * size, "first_rank": size, "sharded": size}
    assert host["saving_bytes"]["collected"] == size
    out = said(capsys, *LLAMA, "--host")
    assert "Nothing is offloaded." in out
    assert "load, every rank" in out
    assert "host memory" not in said(capsys, *LLAMA)


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["--solve", "tp"], "--solve: 'tp' is none of"),
        (["--solve"], "--solve wants a value"),
        (["--timeline", "--stage", "1"], "--stage 1: the plan has stages 0 to 0"),
        (["--explain", "--stage", "-1"], "--stage -1: the plan has stages 0 to 0"),
        (["--timeline", "--stage", "x"], "--stage: 'x' is not a whole number"),
        (["--stage", "0", "--fix"], "--stage goes with --timeline or --explain"),
        (["--compare", "no/such.toml"], "no/such.toml: No such file or directory"),
        (["--compare", "README.md"], "README.md: not TOML"),
        (["--compare", "lessom-7b"], "unknown scenario 'lessom-7b'"),
        (["--compare", "/dev/zero"], "/dev/zero: larger than 1 MiB"),
        (["--compare"], "--compare wants a value"),
        (["--compare", ""], "--compare wants a scenario file or the name of a shipped scenario"),
        (["--seq", "9" * 40], f"seq = {'9' * 20}... > 4294967296"),
        (["--seq", "9" * 41], f"--seq: '{'9' * 20}...' is too long: wanted a whole number like 8192 or 8k"),
        (["--micro-batch", "-1"], "--micro-batch: '-1' is negative: wanted a whole number like 8192 or 8k"),
        (["--seq", "nan"], "--seq: 'nan' is not a whole number like 8192 or 8k"),
        (["--seq", "1e30"], "--seq: '1e30' is not a whole number like 8192 or 8k"),
        (["--precision", "fp7"], "--precision: unknown precision 'fp7'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_bad_input_is_one_line(
    argv: list[str], line: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["memory", *LLAMA, *argv, *form]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert line in err


@pytest.mark.parametrize("extra", [["--fix"], ["--compare", "llama3-8b-8"], ["--solve", "gpus", "--json"]])
def test_check_is_about_the_scenario_itself(extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory", *TIGHT, "--check", *extra]) == 1
    assert cli.main(["memory", *LLAMA, "--check", *extra]) == 0
    assert "fit" in capsys.readouterr().out
