"""Narrowing a list by typing."""

from __future__ import annotations

import pytest

from scaletui.state import picking as pick
from scaletui.state.picking import Item, Picking

LIST = Picking((
    Item("llama3-8b", "llama3-8b", "8.03 B  llama3"),
    Item("tinyllama", "tinyllama", "1.10 B  llama2"),
    Item("qwen", "qwen2.5-7b", "7.62 B  qwen"),
))  # fmt: skip


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["llama3-8b", "tinyllama", "qwen"]),
        ("llama", ["llama3-8b", "tinyllama"]),
        ("LLAMA 1.10", ["tinyllama"]),
        ("tiny", ["tinyllama"]),
        ("nothing like it", []),
    ],
)
def test_every_word_must_be_found(query: str, ids: list[str]) -> None:
    assert [item.id for item in pick.typed(LIST, query).found] == ids


@pytest.mark.parametrize(
    ("query", "steps", "chosen"), [("", 1, "tinyllama"), ("", 99, "qwen"), ("", -5, "llama3-8b")]
)
def test_the_cursor_stays_in_the_list(query: str, steps: int, chosen: str) -> None:
    found = pick.moved(pick.typed(LIST, query), steps).chosen
    assert found is not None
    assert found.id == chosen


def test_an_empty_list_has_nothing_chosen() -> None:
    assert pick.moved(pick.typed(LIST, "zzz"), 3).chosen is None


def test_a_shorter_query_finds_more() -> None:
    assert len(pick.erased(pick.typed(LIST, "t")).found) == 3


@pytest.mark.parametrize(("item", "place"), [("qwen", 2), ("absent", 0)])
def test_the_cursor_can_be_placed(item: str, place: int) -> None:
    assert pick.placed(LIST, item).place == place
