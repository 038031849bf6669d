"""--model as a file or a folder: what is read, what it is called, and one line for whatever is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from scaletui.cli import main
from scaletui.commands.model_file import model_of
from scaletui.commands.scenario_file import read_scenario
from scaletui.text.language import set_language
from scaletui.text.model_notes import model_notes
from scaletui_engine.catalog import load_model
from scaletui_engine.errors import UnknownNameError
from scaletui_engine.hf_config import load_config_text
from scaletui_engine.model import Model
from scaletui_engine.scenario_file import dump
from scaletui_engine.tensors import count_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "rope_theta": 500000.0,
    "max_position_embeddings": 8192, "tie_word_embeddings": False,
}  # fmt: skip
PARAMETERS = count_parameters(load_model("llama3-8b").arch)
ON = ["--gpu", "h100-sxm", "--gpus", "8"]
BARE = "layers = 4\nhidden = 64\nheads = 4\nkv_heads = 2\nhead_dim = 16\nffn = 128\nvocab = 1000\n"


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """Every test begins and ends in English: the language belongs to the process."""
    set_language("en")
    yield
    set_language("en")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a model in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "our-8b").mkdir()
    _write(tmp_path / "our-8b" / "config.json", LLAMA)
    return tmp_path


def _write(path: Path, config: dict[str, Any]) -> None:
    path.write_text(json.dumps(config), encoding="utf-8")


def _answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["memory", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("name", ["our-8b", "./our-8b", "our-8b/config.json", "./our-8b/"])
def test_a_folder_or_its_file_is_a_model(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _answer(capsys, "--model", name, *ON)
    assert found["model"] == "our-8b"
    assert (found["params"], found["params_active"]) == (PARAMETERS.total, PARAMETERS.active)
    known = _answer(capsys, "--model", "llama3-8b", *ON)
    assert found["stages"] == known["stages"]


@pytest.mark.parametrize(
    "command",
    [
        ["memory"],
        ["ranks"],
        ["traffic"],
        ["shard", "--param", "layers.0.attention.wq"],
    ],
)
def test_every_command_takes_it(command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--model", "our-8b", *ON, "--tp", "2"]) == 0
    assert capsys.readouterr().out


def test_a_name_of_the_catalogue_stays_one_where_a_folder_has_it_too(folder: Path) -> None:
    (folder / "gpt2").mkdir()
    _write(folder / "gpt2" / "config.json", LLAMA)
    assert model_of("gpt2") == "gpt2-124m"
    own = model_of("./gpt2")
    assert isinstance(own, Model)
    assert count_parameters(own.arch) == PARAMETERS


def test_a_name_that_is_neither_is_unknown(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown model 'meta-llama/Llama-9'"):
        model_of("meta-llama/Llama-9")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("tiny.json", "tiny"),
        ("runs/tiny/config.json", "tiny"),
        ("models--org--Tiny-1B/snapshots/0123abcd/config.json", "Tiny-1B"),
    ],
)
def test_what_a_file_without_a_name_is_called(place: str, name: str, folder: Path) -> None:
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    _write(folder / place, LLAMA)
    found = model_of(place)
    assert isinstance(found, Model)
    assert found.id == name


@pytest.mark.parametrize(
    ("text", "name", "layers"),
    [
        (BARE, "mine", 4),
        (f"[model]\n{BARE}", "mine", 4),
        (f'[model]\nid = "ours"\n{BARE}', "ours", 4),
        ('[model]\nlike = "llama3-8b"\nlayers = 40\n', "llama3-8b-varied", 40),
        ('[model]\nid = "llama3-8b"\n[cluster]\ngpu = "h100"\ngpus = 8\n', "llama3-8b", 32),
    ],
)
def test_a_toml_of_the_models_own_fields(text: str, name: str, layers: int, folder: Path) -> None:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    found = model_of("mine.toml")
    assert isinstance(found, Model)
    assert (found.id, found.arch.layers) == (name, layers)


SCENARIO = '[model]\nconfig = "{config}"\n[cluster]\ngpu = "h100"\ngpus = 8\n'


def test_a_scenario_names_a_file_from_its_own_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plan.toml").write_text(SCENARIO.format(config="our-8b/config.json"), encoding="utf-8")
    scenario = read_scenario("plan.toml")
    assert scenario.model.id == "our-8b"
    monkeypatch.chdir("/")
    assert read_scenario(str(folder / "plan.toml")) == scenario
    found = _answer(capsys, "--scenario", str(folder / "plan.toml"), "--tp", "2", "--model", "gpt2")
    assert found["model"] == "gpt2-124m"


def test_a_schedule_of_such_a_scenario(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SCENARIO.format(config="our-8b") + "[plan]\npp = 4\nglobal_batch = 8\n"
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    assert main(["schedule", "--scenario", "plan.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["ranks"], found["stages"]) == ("1f1b", 4, 4)


def test_what_is_written_holds_the_fields_and_needs_no_file(folder: Path) -> None:
    (folder / "plan.toml").write_text(SCENARIO.format(config="our-8b"), encoding="utf-8")
    scenario = read_scenario("plan.toml")
    (folder / "written.toml").write_text(dump(scenario), encoding="utf-8")
    (folder / "our-8b" / "config.json").unlink()
    assert read_scenario("written.toml") == scenario


def test_a_file_lies_over_the_model_of_a_scenario(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _answer(capsys, "--scenario", "llama2-7b-8", "--model", "our-8b", "--micro-batch", "1")
    assert (found["model"], found["params"]) == ("our-8b", PARAMETERS.total)


REFUSED = [
    ("gone.json", "gone.json: No such file or directory"),
    ("empty", "empty/config.json: No such file or directory"),
    ("torn.json", "--model: torn.json: not JSON: "),
    ("headless.json", "--model: headless.json: num_attention_heads is missing: wanted a whole number"),
    ("half.toml", "--model: half.toml: model.vocab is missing: wanted a whole number"),
    ("/dev/zero", "--model: /dev/zero: larger than 1 MiB: no model file"),
]


@pytest.mark.parametrize(("name", "line"), REFUSED)
def test_one_line_names_the_file(
    name: str, line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    (folder / "torn.json").write_text('{"model_type": ', encoding="utf-8")
    _write(folder / "headless.json", {k: v for k, v in LLAMA.items() if k != "num_attention_heads"})
    (folder / "half.toml").write_text(BARE.replace("vocab = 1000", ""), encoding="utf-8")
    assert main(["memory", "--model", name, *ON]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"scaletui: {line}")
    assert said.err.count("\n") == 1
    assert not said.out


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ('config = "gone.json"', "gone.json: No such file or directory"),
        (
            'config = "our-8b"\nlayers = 3',
            "model.config = 'our-8b' with fields beside it: the file holds them",
        ),
        ("config = 3", "model.config = 3 is not a text"),
        ('config = "a\\u0000b"', "'a\\x00b' is no name of a file"),
    ],
)
def test_a_scenario_whose_file_is_wrong(
    model: str, line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'[model]\n{model}\n[cluster]\ngpu = "h100"\ngpus = 8\n'
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    assert main(["memory", "--scenario", "plan.toml"]) == 2
    assert line in capsys.readouterr().err


def test_notes_stand_below_the_budget(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(folder / "vision.json", {"model_type": "gemma3", "text_config": LLAMA})
    assert main(["memory", "--model", "vision.json", *ON]) == 0
    assert "the text model of gemma3 alone: vision and its like are not counted" in capsys.readouterr().out
    assert main(["memory", "--model", "vision.json", *ON, "--lang", "pt-BR"]) == 0
    assert "só o modelo de texto de gemma3" in capsys.readouterr().out
    found = _answer(capsys, "--model", "vision.json", *ON)
    assert found["model_note"] == "the text model of gemma3 alone: vision and its like are not counted"
    assert "model_note" not in _answer(capsys, "--model", "our-8b", *ON)
    assert "model_note" not in _answer(capsys, "--model", "deepseek-v3-671b", *ON)


def test_notes_of_the_catalogue_stay_where_they_are() -> None:
    noted = load_model("llama4-scout-17b-16e")
    assert noted.note
    assert not list(model_notes(noted))
    own = load_config_text(json.dumps({**LLAMA, "num_nextn_predict_layers": 1}), "own")
    assert list(model_notes(own)) == ["without the multi-token prediction layers"]


def test_refusals_are_said_in_portuguese(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(folder / "null.json", {**LLAMA, "hidden_size": None})
    assert main(["memory", "--model", "null.json", *ON, "--lang", "pt-BR"]) == 2
    assert "hidden_size é null: esperado um número inteiro" in capsys.readouterr().err
