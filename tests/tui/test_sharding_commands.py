"""scaletui shard, ranks, traffic and simulate: what they print, as text and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaletui import cli
from scaletui.text.language import set_language

if TYPE_CHECKING:
    from collections.abc import Iterator

LLAMA = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "16")
ROWS = ("--shape", "10,4", "--mesh", "dp=4,tp=2", "--placements", "S(0),R")


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(Path(__file__).parents[2])
    yield
    set_language("en")


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert cli.main(list(argv)) == 0
    return capsys.readouterr().out


def answered(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    return json.loads(said(capsys, *argv, "--json"))


def test_slices_are_half_open(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "shard", *ROWS, "--element", "9,0")
    assert [row["slices"] for row in found["ranks"][::2]] == [
        [[[0, 3]], [[0, 4]]], [[[3, 6]], [[0, 4]]], [[[6, 9]], [[0, 4]]], [[[9, 10]], [[0, 4]]],
    ]  # fmt: skip
    assert (found["replicas"], found["padded_shape"], found["holders"]) == (2, [3, 4], [6, 7])


def test_empty_ranks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "shard", "--shape", "3,4", "--mesh", "8", "--placements", "S(0)")
    assert "5 empty ranks: 3-7" in text
    assert re.search(r"2 +2 +2:3 +0:4 +4\n", text)


def test_partial_is_no_replica(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "shard", "--shape", "4,4", "--mesh", "2,2", "--placements", "P,S(0)")
    assert "partial: a value exists only once 2 ranks are summed" in text
    assert "replicas" not in text


def test_a_parameter_of_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    name = "layers.31.attention.wq"
    found = answered(capsys, "shard", *LLAMA, "--tp", "8", "--param", name, "--element", "600,0")
    assert found["placements"] == {"dp_shard_cp": "_S(0,sf=8)", "tp": "S(0)"}
    assert [row["slices"][0] for row in found["ranks"][:2]] == [[[0, 256]], [[512, 768]]]
    assert (found["holders"], found["ranks"][0]["bytes"]) == ([1], 256 * 4096 * 4)
    text = said(capsys, "shard", *LLAMA, "--strategy", "zero3", "--param", name)
    assert "0:1048576" in text


def test_ranks_under_four_conventions(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("ranks", "--scenario", "llama3-405b-16384", "--rank", "12345")
    found = answered(capsys, *argv)
    assert found["conventions"]["megatron"] == {"tp": 1, "cp": 0, "dp": 7, "pp": 12}
    assert found["conventions"]["llama3"] == {"tp": 1, "cp": 0, "dp": 96, "pp": 7}
    tp = next(group for group in found["groups"] if group["axis"] == "tp")
    assert (tp["ranks"], tp["leave_node"]) == (list(range(12344, 12352)), 0)
    assert "rank 12345: node 1543, NVLink domain 1543" in said(capsys, *argv, "--order", "llama3")


def test_tensor_parallelism_over_nodes_is_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "ranks", *LLAMA, "--tp", "4", "--gpus-per-node", "2")
    assert "tp leaves" not in text
    text = said(capsys, "ranks", "--model", "llama3-8b", "--gpu", "a6000", "--gpus", "4", "--tp", "4")
    assert "tp leaves the NVLink domain in 1 of 1 groups" in text


def test_traffic_in_two_columns(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "traffic", *LLAMA, "--tp", "2")
    assert {row["op"] for row in found["paper"]} >= {"all-gather", "reduce-scatter"}
    assert found["framework"] == "torch 2.13"
    assert all(row["sent_bytes"] <= 2 * row["payload_bytes"] for row in found["implemented"])
    text = said(capsys, "traffic", *LLAMA, "--tp", "2")
    assert "as papers count it" in text
    assert "as torch 2.13 sends it" in text


@pytest.mark.parametrize(
    ("options", "note", "words"),
    [
        (["--strategy", "fsdp1", "--dp-replicate", "16"], "mesh.fsdp1_no_shard", "goes to NO_SHARD"),
        (["--strategy", "hsdp", "--dp-replicate", "16"], "mesh.hsdp_one_shard", "cuts nothing"),
        (["--strategy", "hsdp", "--dp-shard", "16"], "mesh.hsdp_one_replica", "sends what FSDP does"),
    ],
)
def test_traffic_says_what_an_axis_of_one_rank_does(
    capsys: pytest.CaptureFixture[str], options: list[str], note: str, words: str
) -> None:
    assert answered(capsys, "traffic", *LLAMA, *options)["notes"] == [note]
    assert words in said(capsys, "traffic", *LLAMA, *options)


def test_traffic_of_eighty_columns_says_what_is_sent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys, "traffic", *LLAMA, "--tp", "2").splitlines()
    heads = [line.split() for line in lines if line.startswith("axis")]
    assert heads == [["axis", "collective", "what", "count", "sent", "link"]] * 2
    assert max(map(len, lines)) <= 80


def test_activations_and_sums_of_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    terms = ("--param", "layers.3.attention.terms", "--part", "activations")
    found = answered(capsys, "shard", *LLAMA, "--tp", "2", "--cp", "2", *terms)
    assert found["placements"] == {"dp_shard": "S(0)", "cp": "HT(1)", "tp": "P"}
    assert found["ranks"][0]["slices"] == [[[0, 1]], [[0, 1024], [3072, 4096]], [[0, 4096]]]
    assert (found["partials"], found["bytes_per_element"]) == (2, 2)
    text = said(capsys, "shard", *LLAMA, "--param", "norm", "--part", "unreduced")
    assert "unreduced gradients" in text
    assert "partial: a value exists only once 16 ranks are summed" in text


def test_what_torch_declares_and_what_ranks_hold(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--shape", "7,6", "--mesh", "dp=3,tp=2", "--placements", "_S(0,sf=2),S(0)")
    found = answered(capsys, "shard", *given)
    assert [row["slices"][0] for row in found["ranks"][4:]] == [[[6, 7]], []]
    assert [row["real_slices"][0] for row in found["ranks"][4:]] == [[], [[6, 7]]]
    text = said(capsys, "shard", *given)
    assert "2 ranks hold other slices than the placements say" in text
    assert "rank 5 holds [6:7, 0:6]" in text


def test_a_small_parameter_of_zero3_is_cut_and_stays_whole(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("shard", *LLAMA, "--strategy", "zero3", "--param", "norm", "--rank", "3")
    found = answered(capsys, *options)
    assert (found["stays_whole"], found["ranks"][0]["run"]) == (True, [768, 1024])
    assert "a whole copy stays beside the slice" in said(capsys, *options)


def test_lengths_that_a_user_gave(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--shape", "4,14", "--mesh", "4", "--placements", "S(1;2,3,4,5)")
    found = answered(capsys, "shard", *given, "--element", "0,13")
    assert [row["slices"][1] for row in found["ranks"]] == [[[0, 2]], [[2, 5]], [[5, 9]], [[9, 14]]]
    assert found["holders"] == [3]


def test_owner_and_worker_of_fused_rows(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("shard", *LLAMA, "--tp", "16", "--strategy", "zero1", "--param", "layers.3.attention.wk")
    rank = answered(capsys, *given, "--rank", "1")["ranks"][0]
    assert [each["head"] for each in rank["stores"]] == ["q3", "k0", "v0"]
    assert rank["computes"] == {"queries": [2, 3], "kv": [0]}
    assert "rank 1: stores q3 k0 v0, computes q2-3 with k0 v0" in said(capsys, *given)


def test_an_order_of_ranks_moves_traffic(capsys: pytest.CaptureFixture[str]) -> None:
    leaving = {
        order: {row["axis"]: row["leave_domain"] for row in found["implemented"]}
        for order in ("megatron", "llama3")
        for found in (answered(capsys, "traffic", *LLAMA, "--pp", "2", "--order", order),)
    }
    assert (leaving["megatron"]["pp"], leaving["llama3"]["pp"]) == (8, 0)


def test_simulations(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "simulate", "zero", "--ranks", "2", "--check")
    assert [each["name"] for each in found["simulations"]] == ["zero1", "zero2", "zero3"]
    assert all(each["exact"] for each in found["simulations"])
    text = said(capsys, "simulate", "fsdp", "--ranks", "3")
    assert re.search(r"fsdp +unsharded +261 +261\n", text)


def test_a_collective_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "simulate", "ring-all-reduce", "--ranks", "4", "--elements", "8")
    assert (len(found["steps"]), found["sent"]) == (6, [12, 12, 12, 12])
    text = said(capsys, "simulate", "tree-broadcast", "--ranks", "4")
    assert "tree broadcast, 2 steps; a rank sends at most 32 of 16 elements" in text


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["shard"], "missing: --shape --mesh --placements"),
        (["shard", "--shape", "4"], "missing: --mesh --placements"),
        (["shard", "--shape", "4,x", *ROWS[2:]], "--shape: '4,x' is not a whole number"),
        (["shard", *ROWS[:4], "--placements", "Q,R"], "unknown placement 'Q'"),
        (["shard", *ROWS[:4], "--placements", "S(2),R"], "dim 2 is not in -2 <= dim < 2"),
        (["shard", *ROWS, "--param", "norm"], "--shape does not go with --param"),
        (["shard", *ROWS, "--element", "-1,0"], "index -1 of dim 0 is not in 0 <= index < 10"),
        (["shard", *ROWS, "--element", "1"], "element (1,) has 1 indices, the shape 2 dims"),
        (["shard", "--shape", "9" * 40, *ROWS[2:]], "--shape: 99999999999999999... has more than 15 digits"),
        (["shard", "--shape", "0,4", *ROWS[2:]], "shape 0 x 4 = 0 elements: there is nothing to shard"),
        (["shard", "--shape", "-4,4", *ROWS[2:]], "shape -4 x 4 = -16 elements: there is nothing to shard"),
        (["shard", "--shape", "1000000,1000000", *ROWS[2:]], "which is not below 1000000000000"),
        (["shard", *ROWS, "--rank", "9" * 30], "rank 99999999999999999... is not in"),
        (["shard", *LLAMA, "--param", "norm", "--part", "secondary"], "there is no second copy"),
        (["shard", *LLAMA, "--param", "norm", "--part", "activations"], "unknown activation 'norm'"),
        (["traffic", *LLAMA, "--order", "lama3"], "unknown order 'lama3', did you mean 'llama3'"),
        (["shard", *ROWS, "--rank", "8"], "rank 8 is not in 0 <= rank < world = 8"),
        (["shard", *LLAMA, "--param", "layers.0.attention.wz"], "did you mean"),
        (["ranks", *LLAMA, "--order", "megatorn"], "unknown order 'megatorn', did you mean 'megatron'"),
        (["ranks", *LLAMA, "--rank", "16"], "rank 16 is not in 0 <= rank < world = 16"),
        (["traffic", *LLAMA, "--stage", "1"], "stage 1 is not in 0 <= stage < pp = 1"),
        (["simulate", "fdsp"], "unknown simulation 'fdsp', did you mean 'fsdp'"),
        (["simulate", "dp", "--stage", "2"], "--stage does not go with dp"),
        (["simulate", "halving-all-reduce", "--ranks", "6"], "6 ranks are no power of 2"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_unusable_input_is_one_line_and_two(
    argv: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(argv) == cli.UNUSABLE_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert line in captured.err


def test_ranks_that_are_not_listed_are_counted_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "1024", "--pp", "2", "--global-batch")
    text = said(capsys, "shard", *options, "1024", "--param", "layers.*.attention.wq")
    assert text.splitlines()[1] == "stage 0-1"
    assert [line for line in text.splitlines() if "more rank" in line] == ["960 more ranks"]


@pytest.mark.parametrize(("gpus", "notes"), [("64", []), ("48", ["mesh.uneven_experts"]), ("8", [])])
def test_experts_whose_rows_fsdp2_will_not_cut(
    capsys: pytest.CaptureFixture[str], gpus: str, notes: list[str]
) -> None:
    """Eight experts of 14,336 x 4,096: 64 ranks divide the rows, 48 do not, 8 take an expert each."""
    options = ("--model", "mixtral-8x7b", "--gpu", "h100-sxm", "--gpus", gpus)
    assert answered(capsys, "traffic", *options)["notes"] == notes
