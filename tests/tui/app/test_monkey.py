"""Keys, clicks, pastes and sizes without sense: nothing breaks, and undo finds the way back."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

import pytest
from textual.events import Paste

from scaletui.canvas import LineCanvas
from scaletui.view.cells import width_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from scaletui.app import ScaletuiApp

    MakeApp = Callable[..., ScaletuiApp]

STEPS: Final = 100
ARROWS: Final = ("up", "down", "left", "right") * 6
KEYS: Final = (
    *ARROWS, *("enter", "escape", "tab", "shift+tab", "backspace", "home", "end", "space", "delete") * 2,
    *"abcdefghijklmnoprstuvwxyzZDNM01567890,./?[]+-*~'", "\u00e9", "\u20ac", "ctrl+t", "ctrl+p", "ctrl+r",
    "ctrl+u", "ctrl+z", "f1", "f5", *("u", "v", "f", "c", "l", "w", "e") * 2,
)  # fmt: skip
PASTES: Final = (
    "8", "512k", "-1", "nan", "\u00e9" * 500, "x" * 100_000, "\x1b[31m", "1\n2\n3", "", "\t", "7,8,9",
    "hsdp", "\u202e\u0301a", "llama3-70b", "~nobody-of-that-name/x.md", "a.svg",
)  # fmt: skip
SIZES: Final = ((20, 5), (1, 1), (300, 100), (80, 24), (60, 18), (40, 10), (120, 40), (100, 12), (33, 60))


@pytest.mark.parametrize("seed", range(3))
async def test_nothing_breaks_and_undo_finds_the_way_back(
    make_app: MakeApp, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance, app = random.Random(seed), make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        start = app.editing.scenario
        for _ in range(STEPS):
            await _do_something(pilot, chance)
            assert beyond_their_panes(app) == []
        await pilot.press(*["escape"] * 8)
        while app.editing.past:
            app.action_undo()
        assert app.editing.scenario == start


async def _do_something(pilot: Pilot[None], chance: random.Random) -> None:
    what = chance.random()
    width, height = pilot.app.size
    if what < 0.04:
        await pilot.resize_terminal(*chance.choice(SIZES))
    elif what < 0.07:
        pilot.app.post_message(Paste(chance.choice(PASTES)))
        await pilot.pause()
    elif what < 0.12:
        await pilot.click(offset=(chance.randrange(width), chance.randrange(height)))
    else:
        await pilot.press(chance.choice(KEYS))


def beyond_their_panes(app: ScaletuiApp) -> list[str]:
    """Panes with more rows than lines, with a row of another width, or with controls in one."""
    shown = [canvas for canvas in app.screen.query(LineCanvas) if canvas.display and canvas.size.width]
    return [str(canvas) for canvas in shown if not _is_inside(canvas)]


def _is_inside(canvas: LineCanvas) -> bool:
    texts = ["".join(span.text for span in row) for row in canvas.rows]
    return (
        len(texts) <= canvas.size.height
        and all(text.isprintable() for text in texts)
        and {width_of(text) for text in texts} <= {canvas.size.width}
    )
