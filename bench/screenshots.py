"""Draws the screenshots of the README: the real app without a terminal, the live ones on a real job.

`python bench/screenshots.py [FOLDER]` writes one SVG for each screen, size and theme.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"  # read when textual is imported
os.environ.pop("NO_COLOR", None)

from scaletui.app import ScaletuiApp
from scaletui.commands.replay import SHIPPED
from scaletui.demo.job import DemoJob, DemoPlan
from scaletui.options import ScreenOptions
from scaletui.state import budget as budget_state
from scaletui.state import live as live_state
from scaletui.text.language import set_language
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.plan import Recompute
from scaletui_engine.schedule_rules import schedule_names, schedule_rule

if TYPE_CHECKING:
    from textual.pilot import Pilot

FOLDER = Path(__file__).parents[1] / ".screenshots"
SIZES = ((80, 24), (160, 45))
THEMES = ("dark", "light")
PLAN = Choices(
    model="llama3-70b", gpu="h100-sxm", gpus=64, tp=4, pp=4, global_batch=32, seq=4096,
    recompute=Recompute.SELECTIVE,
)  # fmt: skip
PIPELINE = Choices(model="llama3-8b", gpu="h100-sxm", gpus=32, pp=4, global_batch=64)
"""4 ranks, 8 microbatches: every schedule is drawn with it."""
SMALL = Choices(model="llama3-8b", gpu="h100-sxm", gpus=8)
"""8 ranks, whose blocks and layers all have room: the players are drawn with it."""
STEPS = 60
"""Steps that the job has made when it is drawn, so that there is a trend to see."""
PATIENCE_S = 90


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture."""

    options: ScreenOptions
    size: tuple[int, int]
    of: str = ""
    """What the picture is of, where a mode has several."""
    keys: tuple[str, ...] = ()
    """Pressed before it is drawn."""

    @property
    def name(self) -> str:
        """budget-80x24-dark.svg"""
        columns, rows = self.size
        mode = f"{self.options.mode}-{self.of}" if self.of else self.options.mode
        return f"{mode}-{columns}x{rows}-{self.options.theme}.svg"


def shots(mode: str, ring_dir: str | None = None) -> list[Shot]:
    """The pictures of one mode."""
    scenario = scenario_from(PLAN)
    return [
        Shot(ScreenOptions(mode=mode, scenario=scenario, theme=theme, ring_dir=ring_dir), size)
        for theme in THEMES
        for size in SIZES
    ]


def schedule_shots() -> list[Shot]:
    """Every schedule that takes 4 ranks and 8 microbatches."""
    found: list[Shot] = []
    for name in schedule_names():
        chunks = max(schedule_rule(name).chunks[0], 1)
        several = schedule_rule(name).chunks[1] is None
        choices = replace(PIPELINE, schedule=name, chunks=2 if several else chunks)
        options = ScreenOptions(mode="schedule", scenario=scenario_from(choices), theme="dark")
        # A file system may not tell 1F1B from 1f1b.
        of = f"torch-{name}" if name[0].isupper() or name.endswith("B") else name
        found.append(Shot(options, (80, 24), of))
    return found


def beside_shots() -> list[Shot]:
    """Two scenarios in two columns."""
    options = ScreenOptions(mode="budget", scenario=scenario_from(PLAN), theme="dark")
    keys = ("v", *"llama3-70b-16", "enter")
    return [Shot(options, size, "beside", keys) for size in SIZES]


def replay_shots() -> list[Shot]:
    """The shipped recording at the moment in which a rank is killed."""
    options = ScreenOptions(mode="live", replay=str(SHIPPED), theme="dark")
    return [Shot(options, size, "replay", ("n", "n")) for size in SIZES]


def player_shots() -> list[Shot]:
    """A ring all-reduce while finished blocks go round, and a step while a layer runs backward."""
    options = ScreenOptions(mode="sharding", scenario=scenario_from(SMALL), theme="dark")
    ring = ("c", "c", "c", "c", *("full_stop",) * 10)
    step = ("s", "end", *("comma",) * 70)
    return [
        Shot(options, size, of, keys) for of, keys in (("collective", ring), ("step", step)) for size in SIZES
    ]


async def draw(shot: Shot, folder: Path) -> None:
    """Open the app on it, wait until there is something to see, and write the picture."""
    app = ScaletuiApp(shot.options)
    async with app.run_test(size=shot.size) as pilot:
        await pilot.pause()
        await _steps(app, pilot) if shot.options.ring_dir else await app.workers.wait_for_complete()
        if shot.options.mode == "budget":
            await _closer_look(app, pilot)
        if shot.keys:
            await pilot.press(*shot.keys)
            await app.workers.wait_for_complete()
            await pilot.pause()
        (folder / shot.name).write_text(app.export_screenshot(title="scaletui"), encoding="utf-8")
    print(shot.name)


async def _closer_look(app: ScaletuiApp, pilot: Pilot[None]) -> None:
    """The engine is asked for it when nobody has edited for a moment."""
    for _ in range(PATIENCE_S * 20):
        if budget_state.closer_look(app.screen.state) is not None:
            await pilot.pause()
            return
        await pilot.pause(0.05)
    raise SystemExit(f"the engine has not looked closer in {PATIENCE_S} s")


async def _steps(app: ScaletuiApp, pilot: Pilot[None]) -> None:
    for _ in range(PATIENCE_S * 2):
        job = live_state.job(app.screen.state) if hasattr(app.screen, "state") else None
        if job is not None and (job.step or 0) >= STEPS:
            return
        await pilot.pause(0.5)
    raise SystemExit(f"the job did not reach step {STEPS} in {PATIENCE_S} s")


async def main(folder: Path) -> None:
    """Every picture, one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    still = (*shots("budget"), *beside_shots(), *shots("schedule"), *schedule_shots(), *shots("sharding"))
    for shot in (*still, *player_shots(), *replay_shots()):
        await draw(shot, folder)
    with tempfile.TemporaryDirectory() as rings:
        os.chmod(rings, 0o700)
        with DemoJob(DemoPlan("fsdp", 2, 0, rings), shows_output=False):
            for shot in shots("live", rings):
                await draw(shot, folder)


if __name__ == "__main__":
    set_language("en")
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
