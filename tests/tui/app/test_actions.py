"""The one registry: real keys, no key twice, a method behind every action, a footer that fits."""

from __future__ import annotations

import re

import pytest
from textual.keys import KEY_NAME_REPLACEMENTS, Keys

from scaletui.actions import ACTIONS, FOOTER_KEYS, PLAYERS, action, actions_of, footer_of
from scaletui.app import ScaletuiApp
from scaletui.options import MODES
from scaletui.screens.mode import OF_THE_APP, app_bindings, screen_bindings
from scaletui.view.footer import footer_places, footer_row, key_name
from scaletui.view.row import row_width

NAMES = {key.value for key in Keys} | set(KEY_NAME_REPLACEMENTS.values())
PLAIN = re.compile(
    r"[a-zA-Z0-9]|slash|full_stop|comma|question_mark|(left|right)_square_bracket|(ctrl|shift)\+[a-z]+"
)


@pytest.mark.parametrize("key", sorted({key for entry in ACTIONS for key in entry.keys}))
def test_every_key_is_one_that_the_terminal_sends(key: str) -> None:
    assert key in NAMES or PLAIN.fullmatch(key)
    assert key != "esc"


@pytest.mark.parametrize("mode", MODES)
def test_no_key_does_two_things(mode: str) -> None:
    keys = [key for entry in actions_of(mode) for key in entry.keys]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("mode", MODES)
def test_every_action_has_a_method(mode: str) -> None:
    screen = ScaletuiApp.MODES[mode]
    bound = {binding.id: binding.action for binding in (*app_bindings(), *screen_bindings(mode))}
    for entry in actions_of(mode):
        owner = ScaletuiApp if entry.group in ("everywhere", "screens") or entry.id in OF_THE_APP else screen
        assert callable(getattr(owner, f"action_{entry.id}", None)), (mode, entry.id)
        assert bound[entry.id].removeprefix("app.") == entry.id


@pytest.mark.parametrize(
    ("keys", "doing"),
    [
        ("1", "mode_budget"), ("2", "mode_schedule"), ("3", "mode_sharding"), ("4", "mode_live"),
        ("space", "play"), ("full_stop", "step_on"), ("comma", "step_back"),
        ("question_mark", "help"), ("q", "quit"),
    ],
)  # fmt: skip
def test_the_keys_that_work_everywhere(keys: str, doing: str) -> None:
    assert keys in action(doing).keys
    if doing != "play":
        assert action(doing).modes == MODES + PLAYERS


@pytest.mark.parametrize("mode", MODES)
def test_the_footer_has_at_most_seven_keys_and_they_fit_80_columns(mode: str) -> None:
    actions = footer_of(mode)
    assert len(actions) <= FOOTER_KEYS
    assert all(mode in entry.modes for entry in actions)
    assert [entry for _, _, entry in footer_places(actions, 80)] == list(actions)
    assert row_width(footer_row(actions, 80)) == 80


def test_a_narrow_footer_leaves_keys_out_whole() -> None:
    row = footer_row(footer_of("budget"), 30)
    text = "".join(span.text for span in row)
    assert (text.strip(), len(text)) == ("? help  arrows edit  f fix", 30)


@pytest.mark.parametrize(
    ("key", "name"), [("question_mark", "?"), ("full_stop", "."), ("ctrl+p", "ctrl+p"), ("w", "w")]
)
def test_keys_have_the_names_people_use(key: str, name: str) -> None:
    assert key_name(key) == name
