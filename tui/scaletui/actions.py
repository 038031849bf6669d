"""The one registry of what a person can do: keys, palette, footer, help and docs are read from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.options import MODES
from scaletui.text.language import N_

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAYERS: Final = ("collective", "one_step", "replay")
"""Screens that play: they have keys of their own and are in no list of modes."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do, and the keys that do it."""

    id: str
    """The method that does it is `action_<id>`, on the screen of the mode or on the app."""
    keys: tuple[str, ...]
    """Textual's names of the keys; the first is the one that footer and help show."""
    title: str
    """One or two words, as the footer shows them; a msgid."""
    tooltip: str
    """One sentence; a msgid."""
    modes: tuple[str, ...] = MODES + PLAYERS
    group: str = N_("everywhere")
    """Heading in the help; a msgid."""


_BUDGET: Final = ("budget",)
_STATIC: Final = ("budget", "schedule", "sharding")
_FIELDS: Final = ("budget",)
_SHARDS: Final = ("sharding",)
_MODELS: Final = ("budget", "schedule")
_TIME: Final = ("schedule",)
_PLAYED: Final = ("schedule", *PLAYERS)
_OVER: Final = ("collective", "one_step")
_MESSAGES: Final = ("collective",)
_UNITS: Final = ("one_step",)
_ROWS: Final = ("sharding", "collective")
_WATCH: Final = ("live",)
_REPLAY: Final = ("replay",)
_LIVE: Final = ("live", "replay")
_EDIT: Final = N_("editing the scenario")
_LOOK: Final = N_("looking")
_SCREENS: Final = N_("screens")
_CLOCK: Final = N_("time")

ACTIONS: Final = (
    Action("mode_budget", ("1",), N_("Budget"), N_("Does it fit, and what takes the room?"), group=_SCREENS),
    Action("mode_schedule", ("2",), N_("Schedule"), N_("Where does the time go?"), group=_SCREENS),
    Action("mode_sharding", ("3",), N_("Sharding"), N_("Who holds what?"), group=_SCREENS),
    Action("mode_live", ("4",), N_("Live"), N_("Does the job do what was predicted?"), group=_SCREENS),
    Action("help", ("question_mark", "f1"), N_("help"), N_("Every key of this screen")),
    Action("quit", ("q", "ctrl+c"), N_("quit"), N_("Leave scaletui")),
    Action("command_palette", ("ctrl+p",), N_("commands"), N_("Search everything that can be done here")),
    Action("next_theme", ("ctrl+t",), N_("theme"), N_("Change to the next theme")),
    Action("play", ("space",), N_("pause"), N_("Stop the picture, or let it run on"), _WATCH, _LOOK),
    Action("run", ("space",), N_("play"), N_("Let time run, or stop it"), _PLAYED, _CLOCK),
    Action("step_on", ("full_stop",), N_("step"), N_("One stage, rank or action on"), group=_LOOK),
    Action("step_back", ("comma",), N_("back"), N_("One stage, rank or action back"), group=_LOOK),
    Action("up", ("up",), N_("up"), N_("Choose the field, part or rank above"), group=_LOOK),
    Action("down", ("down",), N_("down"), N_("Choose the field, part or rank below"), group=_LOOK),
    Action("right", ("right",), N_("edit"), N_("Step the field to its next valid value"), _FIELDS, _EDIT),
    Action("left", ("left",), N_("edit"), N_("Step the field to its previous valid value"), _FIELDS, _EDIT),
    Action("later", ("right",), N_("scrub"), N_("One cell on; on the plan, edit"), _PLAYED, _CLOCK),
    Action("earlier", ("left",), N_("scrub"), N_("One cell back; on the plan, edit"), _PLAYED, _CLOCK),
    Action("to_start", ("home",), N_("start"), N_("The playhead at the start"), _PLAYED, _CLOCK),
    Action("to_end", ("end",), N_("end"), N_("The playhead at the end"), _PLAYED, _CLOCK),
    Action("faster", ("plus",), N_("faster"), N_("Twice as fast"), _PLAYED, _CLOCK),
    Action("slower", ("minus",), N_("slower"), N_("Half as fast"), _PLAYED, _CLOCK),
    Action("zoom_in", ("z",), N_("zoom"), N_("Twice as close"), _TIME, _CLOCK),
    Action("zoom_out", ("Z",), N_("zoom out"), N_("Half as close"), _TIME, _CLOCK),
    Action("pan_on", ("shift+right",), N_("pan"), N_("Half a page on; the playhead stays"), _TIME, _CLOCK),
    Action("pan_back", ("shift+left",), N_("pan"), N_("Half a page back; the playhead stays"), _TIME, _CLOCK),
    Action("memory", ("m",), N_("memory"), N_("Show or hide the memory of the ranks"), _TIME, _LOOK),
    Action("critical", ("x",), N_("critical"), N_("Show the critical path, or all alike"), _TIME, _LOOK),
    Action("beside", ("v",), N_("compare"), N_("Another schedule on the same time axis"), _TIME, _LOOK),
    Action("table", ("t",), N_("table"), N_("All schedules; Enter takes one"), _TIME, _LOOK),
    Action("seconds", ("e",), N_("seconds"), N_("Count in t, or in estimated seconds"), _TIME, _LOOK),
    Action("messages", ("b",), N_("messages"), N_("Send freely, block, in order, or late"), _TIME, _LOOK),
    Action("optimizer", ("o",), N_("optimizer"), N_("Its step: after all, by rank, or none"), _TIME, _LOOK),
    Action("focus_plan", ("tab",), N_("plan"), N_("Arrows on the plan, or on time"), _TIME, _EDIT),
    Action("leave", ("escape",), N_("back"), N_("Leave the plan, then the comparison"), _TIME, _LOOK),
    Action("out", ("escape",), N_("back"), N_("Back to the sharding screen"), _OVER, _LOOK),
    Action("next_tile", ("right",), N_("tile"), N_("The next tile; on the plan, edit"), _SHARDS, _LOOK),
    Action("previous_tile", ("left",), N_("tile"), N_("The tile before; on the plan, edit"), _SHARDS, _LOOK),
    Action("find", ("slash",), N_("find"), N_("A parameter, a layer of it, or a rank"), _SHARDS, _LOOK),
    Action("part", ("p",), N_("part"), N_("Weights, gradients, optimizer, activations"), _SHARDS, _LOOK),
    Action("order", ("o",), N_("order"), N_("Number ranks as another framework does"), _SHARDS, _LOOK),
    Action("dims", ("d",), N_("dims"), N_("Draw other dims of the tensor"), _SHARDS, _LOOK),
    Action("declared", ("D",), N_("declared"), N_("Tiles as held, or as torch declares"), _SHARDS, _LOOK),
    Action("next_row", ("right_square_bracket",), N_("row"), N_("Light the row's group"), _ROWS, _LOOK),
    Action("previous_row", ("left_square_bracket",), N_("row"), N_("Light the row before"), _ROWS, _LOOK),
    Action("papers", ("v",), N_("papers"), N_("Traffic as sent, or as papers count it"), _SHARDS, _LOOK),
    Action("traffic", ("t",), N_("traffic"), N_("All of the traffic, or the pictures"), _SHARDS, _LOOK),
    Action("plan_too", ("tab",), N_("plan"), N_("Arrows on the plan, or on the tensor"), _SHARDS, _EDIT),
    Action("collective", ("c",), N_("collective"), N_("Play a collective step by step"), _SHARDS, _LOOK),
    Action("one_step", ("s",), N_("step"), N_("Play a training step unit by unit"), _SHARDS, _LOOK),
    Action("other_op", ("c",), N_("collective"), N_("Another collective"), _MESSAGES, _LOOK),
    Action("other_way", ("a",), N_("algorithm"), N_("Another algorithm for it"), _MESSAGES, _LOOK),
    Action("more_ranks", ("n",), N_("ranks"), N_("More ranks"), _MESSAGES, _LOOK),
    Action("fewer_ranks", ("N",), N_("fewer"), N_("Fewer ranks"), _MESSAGES, _LOOK),
    Action("other_nodes", ("g",), N_("nodes"), N_("Other sizes of the nodes"), _MESSAGES, _LOOK),
    Action("next_strategy", ("s",), N_("strategy"), N_("The same moment, otherwise cut"), _UNITS, _LOOK),
    Action("next_job", ("right",), N_("job"), N_("Look at the next job"), _WATCH, _LOOK),
    Action("previous_job", ("left",), N_("job"), N_("Look at the job before"), _WATCH, _LOOK),
    Action("gpus", ("g",), N_("GPUs"), N_("Every GPU as the driver sees it, or the ranks"), _LIVE, _LOOK),
    Action("into_rank", ("enter",), N_("rank"), N_("One rank closely, or back"), _LIVE, _LOOK),
    Action("out_of_rank", ("escape",), N_("back"), N_("One page up; all ranks again"), _LIVE, _LOOK),
    Action("rank_order", ("o",), N_("order"), N_("Sort the ranks by something else"), _LIVE, _LOOK),
    Action("rank_filter", ("slash",), N_("filter"), N_("Show only some of the ranks"), _LIVE, _LOOK),
    Action("heat", ("h",), N_("map"), N_("All ranks as a map, or the list"), _LIVE, _LOOK),
    Action("measure", ("m",), N_("measure"), N_("Colour the map by something else"), _LIVE, _LOOK),
    Action("make_fit", ("f",), N_("fit"), N_("What would make the job need less"), _LIVE, _LOOK),
    Action("batch", ("i",), N_("batch"), N_("Tell micro-batch and sequence"), _LIVE, _EDIT),
    Action("to_budget", ("b",), N_("budget"), N_("Open the job as a scenario in Budget"), _LIVE, _EDIT),
    Action("acknowledge", ("a",), N_("seen"), N_("Every alert has been seen"), _LIVE, _LOOK),
    Action("other_job", ("j",), N_("job"), N_("Look at the next job"), _REPLAY, _LOOK),
    Action("next_event", ("n",), N_("event"), N_("Where something happened next"), _REPLAY, _CLOCK),
    Action("previous_event", ("N",), N_("event"), N_("Where something happened before"), _REPLAY, _CLOCK),
    Action("export_looks", ("e",), N_("export"), N_("Write what is shown as CSV or JSON"), _LIVE, _LOOK),
    Action("type", ("enter",), N_("type"), N_("Type it; Enter sets it, Escape leaves it"), _STATIC, _EDIT),
    Action("pick_model", ("slash",), N_("model"), N_("Choose the model from a list"), _MODELS, _EDIT),
    Action("other_model", ("m",), N_("model"), N_("Choose the model from a list"), _SHARDS, _EDIT),
    Action("fix", ("f",), N_("fix"), N_("Single changes that save memory, to apply"), _BUDGET, _EDIT),
    Action("compare", ("c",), N_("compare"), N_("Compare with this scenario from now on"), _BUDGET, _EDIT),
    Action("side_by_side", ("v",), N_("side by side"), N_("Two scenarios in two columns"), _BUDGET, _LOOK),
    Action("lesson", ("l",), N_("lesson"), N_("The lesson's accounting beside this one"), _BUDGET, _LOOK),
    Action("undo", ("u",), N_("undo"), N_("Take the last edit back"), _STATIC, _EDIT),
    Action("redo", ("ctrl+r",), N_("redo"), N_("Make the edit again that was taken back"), _STATIC, _EDIT),
    Action("save", ("w",), N_("save"), N_("Write the scenario to a TOML file"), _STATIC, _EDIT),
    Action("export", ("e",), N_("export"), N_("Write the budget as Markdown, JSON or SVG"), _BUDGET, _EDIT),
    Action("next_pane", ("tab",), N_("parts"), N_("The next list: plan, parts, stages"), _BUDGET, _LOOK),
    Action("previous_pane", ("shift+tab",), N_("back"), N_("The previous list"), _BUDGET, _LOOK),
)  # fmt: skip
"""Every action, in the order in which help and palette list them."""

_FOOTERS: Final = {
    "budget": ("help", "right", "type", "next_pane", "fix", "undo", "quit"),
    "schedule": ("help", "run", "step_on", "later", "zoom_in", "beside", "table"),
    "sharding": ("help", "next_tile", "step_on", "find", "part", "order", "traffic"),
    "collective": ("help", "run", "step_on", "out", "other_op", "other_way", "more_ranks"),
    "one_step": ("help", "run", "step_on", "next_strategy", "out", "later", "faster"),
    "replay": ("help", "run", "step_on", "later", "next_event", "faster", "quit"),
    "live": ("help", "into_rank", "rank_order", "rank_filter", "heat", "make_fit", "gpus"),
}
FOOTER_KEYS: Final = 7
"""The most keys a footer shows."""


def actions_of(mode: str) -> Iterator[Action]:
    """The actions that work in a mode."""
    return (action for action in ACTIONS if mode in action.modes)


def action(action_id: str) -> Action:
    """The action of that name; KeyError when there is none."""
    return _BY_ID[action_id]


def footer_of(mode: str) -> tuple[Action, ...]:
    """The keys that matter in a mode, at most `FOOTER_KEYS`."""
    return tuple(_BY_ID[name] for name in _FOOTERS[mode])


_BY_ID: Final = {item.id: item for item in ACTIONS}
