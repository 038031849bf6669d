"""The engine's refusals in Portuguese: every sentence that can end an edit or a command has its template."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scaletui.text.language import language, set_language
from scaletui.text.refusals import TEMPLATES, refusal, translated
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.errors import ScenarioError, UnknownNameError
from scaletui_engine.scenario_file import load
from scaletui_engine.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENGINE = Path(__file__).parents[2] / "engine" / "scaletui_engine"
SCENARIO_MODULES = (
    "validate", "edit", "catalog", "scenarios", "stages.py", "defaults.py", "units.py", "fields.py",
    "scenario_file.py", "model_table.py", "gpu_table.py", "toml_text.py", "schedule_rules.py",
    "optimizers.py", "precisions.py", "schedule", "sharding", "collectives", "numerics",
    "live/architecture.py",
)  # fmt: skip
"""Where a scenario is read, edited, checked or rebuilt: what the screens and `scaletui memory` can refuse."""
WITHOUT_WORDS = re.compile(r"[{} =<>:!]*|\w+_\w+")
"""A comparison like "{name} = {value} < {least}", or the name of a key."""


@pytest.fixture(autouse=True)
def _portuguese() -> Iterator[None]:
    before = language()
    set_language("pt-BR")
    yield
    set_language(before)


def files(name: str) -> list[Path]:
    return [ENGINE / name] if name.endswith(".py") else sorted((ENGINE / name).rglob("*.py"))


def refusals_of(path: Path) -> Iterator[str]:
    """Every message that a module raises, {} in the place of each number."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error") and node.args:
            choices = [node.args[0]]
            if isinstance(node.args[0], ast.IfExp):
                choices = [node.args[0].body, node.args[0].orelse]
            yield from (text for text in map(_text, choices) if text is not None)


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def test_every_refusal_of_a_scenario_has_a_template() -> None:
    """A number stands for every {}, since that is what templates meet."""
    strangers = [
        f"{path.name}: {text}"
        for name in SCENARIO_MODULES
        for path in files(name)
        for text in refusals_of(path)
        if not WITHOUT_WORDS.fullmatch(text)
        if translated(text.replace("{}", "7")) == text.replace("{}", "7")
    ]
    assert strangers == []


def test_templates_do_not_shadow_each_other() -> None:
    assert len(TEMPLATES) == len(set(TEMPLATES))


def choices(**plan: object) -> Callable[[], object]:
    said = {"model": "llama3-8b", "gpu": "h100-sxm", "gpus": 8, **plan}
    return lambda: validate(scenario_from(Choices(**said)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        (choices(tp=3), "tp 3 não divide as 8 GPUs do cluster; válido mais próximo: tp 2"),
        (
            choices(pp=3, gpus=9),
            "32 camadas / 3 estágios = 10.67, não é um número inteiro; válido mais próximo: .*",
        ),
        (choices(seq=9000), "seq 9000 > 8192, a maior sequência de llama3-8b; válido mais próximo: seq 8192"),
        (choices(model="llama9"), r"modelo: 'llama9' não existe, seria '.*'\?"),
        (choices(precision="bf17"), "precisão: 'bf17' não existe"),
        (choices(ep=2), "ep 2, mas llama3-8b não tem especialistas; válido mais próximo: ep 1"),
        (lambda: load("x"), "não é TOML: .*"),
        (lambda: load(""), r"falta \[model\]"),
    ],
    ids=["divides", "layers", "sequence", "model", "precision", "experts", "toml", "missing"],
)
def test_refusal_in_portuguese(refused: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        refused()
    assert re.fullmatch(sentence, refusal(caught.value))


def test_english_stays_as_the_engine_wrote_it() -> None:
    set_language("en")
    error = UnknownNameError("model", "lama3-8b", ["llama3-8b"])
    assert refusal(error) == str(error) == "unknown model 'lama3-8b', did you mean 'llama3-8b'?"


@pytest.mark.parametrize("text", ["", "tp 4", "no template fits this", "{braces} stay"])
def test_what_fits_no_template_stays(text: str) -> None:
    assert translated(text) == text
