"""The composition root: four modes over one scenario, themes, keys from the registry."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui.evaluation import Evaluation
from scaletui.exports import KINDS, export_text
from scaletui.hangup import Hangup
from scaletui.messages import ActionAsked, Answered, EditAsked, Refused
from scaletui.picks import command_items, model_items
from scaletui.screens.budget import BudgetScreen
from scaletui.screens.help import HelpScreen
from scaletui.screens.live import LiveScreen
from scaletui.screens.mode import ModeScreen, app_bindings
from scaletui.screens.pick import PickScreen
from scaletui.screens.save import SaveScreen
from scaletui.screens.schedule import ScheduleScreen
from scaletui.screens.sharding import ShardingScreen
from scaletui.state.editing import Editing, redone, replaced, set_field, undone
from scaletui.state.naming import Naming, suggested_name
from scaletui.state.picking import Picking, placed
from scaletui.state.session import Notice, Session
from scaletui.text.glyphs import glyphs_for
from scaletui.text.language import language, tr
from scaletui.text.numbers import numbers_for
from scaletui.theming import ThemedApp
from scaletui.view.pen import Pen
from scaletui.writing import write_whole
from scaletui_engine.errors import UnknownNameError
from scaletui_engine.scenario_file import dump
from scaletui_engine.scenarios import load_scenario
from scaletui_themes import load_palette, stylesheet, theme_ids

if TYPE_CHECKING:
    from textual.theme import Theme
    from textual.timer import Timer

    from scaletui.messages import LeaveAsked, Noticed
    from scaletui.options import ScreenOptions
    from scaletui.state.answer import Answer

FIRST_SCENARIO: Final = "llama3-8b-8"
UNUSABLE_TERMINAL: Final = 2
BEHIND_S: Final = 1.0
"""Between two looks at what goes on behind the screen."""


def run(options: ScreenOptions) -> int:
    """Open the screen; returns the exit code, 128 plus its number after a signal.

    Raises UnknownNameError for a theme that does not exist.
    """
    if options.theme is not None and options.theme not in theme_ids():
        raise UnknownNameError("theme", options.theme, theme_ids())
    if not _has_terminal():
        print(
            f"scaletui: {tr('the screen needs a terminal for its input, its output and its errors')}",
            file=sys.stderr,
        )
        return UNUSABLE_TERMINAL
    app = ScaletuiApp(options)
    with Hangup(app):
        app.run(mouse=options.mouse)
    return app.return_code or 0


def _has_terminal() -> bool:
    # Textual draws on the error output and reads the size of the other two.
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


class ScaletuiApp(ThemedApp[None]):
    """Owns the scenario: screens are shown sessions, and ask for changes."""

    TITLE = "scaletui"
    CSS_PATH = [stylesheet("app")]  # noqa: RUF012 (annotated it would break the base class, which is invariant)
    BINDINGS = app_bindings()
    ENABLE_COMMAND_PALETTE = False
    MODES = {  # noqa: RUF012 (the same)
        "budget": BudgetScreen, "schedule": ScheduleScreen, "sharding": ShardingScreen, "live": LiveScreen,
    }  # fmt: skip

    def __init__(self, options: ScreenOptions) -> None:
        super().__init__(options.theme)
        self.options = options
        self.editing = Editing(options.scenario or load_scenario(FIRST_SCENARIO))
        self.answer: Answer | None = None
        self.notice = Notice(options.notice)
        self.evaluation = Evaluation(self)
        self._watch_behind: Timer | None = None

    def on_mount(self) -> None:
        """Open on the mode that was asked for, and ask the engine."""
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        if self.options.replay is not None:
            self._replay(self.options.replay)
        self.switch_mode(self.options.mode)
        self.evaluation.ask(self.editing.scenario)
        if self.options.stopped is not None:
            self._watch_behind = self.set_interval(BEHIND_S, self._tell_stopped)

    def _tell_stopped(self) -> None:
        """Say at once why what goes on behind the screen has stopped."""
        why = "" if self.options.stopped is None else self.options.stopped()
        if why and self._watch_behind is not None:
            self._watch_behind.stop()
            self.show(Notice(why, "error"))

    @property
    def session(self) -> Session:
        """What screens are shown."""
        return Session(self.editing, self.pen, self.answer, self.notice)

    @property
    def pen(self) -> Pen:
        """What views draw with, under the theme of this moment."""
        glyphs = glyphs_for(ascii_only=self.options.ascii, hues=self.has_hues)
        return Pen(glyphs, numbers_for(language()), self.options.big)

    def _replay(self, path: str) -> None:
        """Put a recording in the place of what there is to see now."""
        from scaletui.screens.replay import open_replay

        self.remove_mode("live")
        self.add_mode("live", partial(open_replay, path))

    def show(self, notice: Notice | None = None) -> None:
        """Show the session on the screen of the mode; what has not changed costs nothing."""
        self.notice = notice or Notice()
        screen = self._front
        if screen is not None and screen.is_mounted:
            screen.show(self.session)

    @property
    def _front(self) -> ModeScreen | None:
        """The screen that lists and help lie over: a player over its mode, else the mode itself."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, ModeScreen)), None)

    @property
    def _keys(self) -> str:
        """Whose keys are listed."""
        return (self._front.KEYS if self._front is not None else "") or self.current_mode

    def on_edit_asked(self, message: EditAsked) -> None:
        """Change the scenario, and ask the engine about a new one."""
        before, self.editing = self.editing.scenario, message.change(self.editing)
        found = None
        if self.editing.scenario is not before:
            found = self.evaluation.ask(self.editing.scenario)
        if isinstance(found, Answered):
            self.answer = found.answer
        self.show(Notice(found.why, "error") if isinstance(found, Refused) else None)

    def on_answered(self, message: Answered) -> None:
        """Show an answer, unless the scenario has changed since it was asked for."""
        self.evaluation.learn(message)
        if message.answer.scenario is self.editing.scenario:
            self.answer = message.answer
            self.show(self.notice)

    def on_refused(self, message: Refused) -> None:
        """The engine's own refusal of a scenario that passed the validation."""
        if message.scenario is self.editing.scenario:
            self.show(Notice(message.why, "error"))

    def on_session_asked(self) -> None:
        """A screen came to the front."""
        self.show(self.notice)

    def on_noticed(self, message: Noticed) -> None:
        """Show what a screen has to say."""
        self.show(message.notice)

    def on_leave_asked(self, message: LeaveAsked) -> None:
        """A signal or the end of the input."""
        self.exit(return_code=message.code)

    async def on_action_asked(self, message: ActionAsked) -> None:
        """A click does what the key does: on the screen if it can, else here."""
        target = self.screen if hasattr(self.screen, f"action_{message.action_id}") else self
        await self.run_action(message.action_id, target)

    def action_mode_budget(self) -> None:
        """Open the budget."""
        self.switch_mode("budget")

    def action_mode_schedule(self) -> None:
        """Open the schedule."""
        self.switch_mode("schedule")

    def action_mode_sharding(self) -> None:
        """Open the sharding."""
        self.switch_mode("sharding")

    def action_mode_live(self) -> None:
        """Open the running jobs."""
        self.switch_mode("live")

    def action_help(self) -> None:
        """Every key of this screen."""
        self.push_screen(HelpScreen(self._keys, self.pen))

    def action_next_theme(self) -> None:
        """The next theme of the list."""
        ids = theme_ids()
        self.theme = ids[(ids.index(self.theme) + 1) % len(ids)]

    def action_command_palette(self) -> None:
        """A list of everything that can be done on this screen."""
        items = Picking(command_items(self._keys))
        self.push_screen(PickScreen(tr("commands"), items, self.pen), self._run_command)

    def action_pick_model(self) -> None:
        """A list of the catalogue's models."""
        items = placed(Picking(model_items(self.pen.numbers)), self.editing.scenario.model.id)
        self.push_screen(PickScreen(tr("model"), items, self.pen), self._set_model)

    def action_undo(self) -> None:
        """Take the last edit back."""
        if self.editing.past:
            self.on_edit_asked(EditAsked(undone))
        else:
            self.show(Notice(tr("nothing to undo")))

    def action_redo(self) -> None:
        """Make it again."""
        if self.editing.future:
            self.on_edit_asked(EditAsked(redone))
        else:
            self.show(Notice(tr("nothing to redo")))

    def action_save(self) -> None:
        """Ask for a name and write the scenario."""
        name = Naming(suggested_name(self.editing.scenario))
        self.push_screen(SaveScreen(tr("save the scenario as"), name, self.pen), self._save)

    def action_export(self) -> None:
        """Ask for a name and write the budget, in the form that its ending says."""
        name = Naming(suggested_name(self.editing.scenario, KINDS[0]), KINDS)
        self.push_screen(SaveScreen(tr("export the budget as"), name, self.pen), self._export)

    async def _run_command(self, command: str | None) -> None:
        if command is None:
            return
        kind, _, name = command.partition(":")
        if kind == "theme":
            self.theme = name
        elif kind == "scenario":
            self.on_edit_asked(EditAsked(partial(replaced, scenario=load_scenario(name))))
        else:
            await self.on_action_asked(ActionAsked(name))

    def _set_model(self, model: str | None) -> None:
        if model is not None:
            self.on_edit_asked(EditAsked(partial(set_field, field="model", text=model)))

    def _save(self, path: str | None) -> None:
        if path is not None:
            self._write(path, dump(self.editing.scenario))

    def _export(self, path: str | None) -> None:
        if path is None:
            return
        if self.answer is None or self.answer.scenario is not self.editing.scenario:
            self.show(Notice(tr("the engine is still looking")))
        else:
            picture = partial(self.export_screenshot, title="scaletui")
            self._write(path, export_text(path, self.answer, self.pen, picture))

    def _write(self, path: str, text: str) -> None:
        try:
            write_whole(Path(path), text)
        except OSError as error:
            self.show(Notice(f"{error.strerror}: {path}", "error"))
        else:
            self.show(Notice(tr("saved to {path}", path=path), "ok"))

    def _theme_changed(self, theme: Theme) -> None:
        title = load_palette(theme.name).title if theme.name in theme_ids() else theme.name
        self.show(Notice(tr("theme {name}", name=title)))
