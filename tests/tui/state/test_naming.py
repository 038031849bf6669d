"""The name of a file to save to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui.state import naming
from scaletui.state.naming import Naming
from scaletui_engine.scenarios import load_scenario


@pytest.mark.parametrize(
    ("name", "suggested"),
    [("", "llama3-8b-8x-h100-sxm.toml"), ("my run/7", "my-run-7.toml")],
)
def test_a_suggestion_says_what_is_inside(name: str, suggested: str) -> None:
    assert naming.suggested_name(replace(load_scenario("llama3-8b-8"), name=name)) == suggested


@pytest.mark.parametrize(
    ("text", "known"), [("a.md", True), ("a.svg ", True), ("a.txt", False), ("md", False)]
)
def test_a_name_may_have_to_end_in_something(text: str, known: bool) -> None:
    assert Naming(text, (".md", ".svg")).is_known_kind == known
    assert Naming(text).is_known_kind


def test_typing_takes_a_warning_back() -> None:
    warned = naming.warned(Naming("a.toml"), "exists", asks_again=True)
    assert warned.asks_again
    assert naming.typed(warned, "l") == Naming("a.tomll")
    assert naming.erased(warned) == Naming("a.tom")
