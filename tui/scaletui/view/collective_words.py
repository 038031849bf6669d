"""The words beside the picture of a collective: the answer, what this step does, what it adds up to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.collective_sight import ways_of
from scaletui.text.language import N_, tr
from scaletui.view.cells import crop, width_of
from scaletui.view.row import Row, Span, beside, fit
from scaletui.view.rule import rule_row
from scaletui.view.step_clock import clock_text, pair_text, short_size
from scaletui.view.table import Column, table_rows
from scaletui.view.traffic_report import WHAT
from scaletui_engine.collectives.wire import Collective

if TYPE_CHECKING:
    from scaletui.state.collective_sight import Sight, Way
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.collectives.family import Played

_PHASES: Final = {
    "ring_scatter": N_("reduce-scatter: each rank adds the block that the rank before it sends"),
    "ring_gather": N_("all-gather: finished blocks travel round the ring and are put in place"),
    "tree_up": N_("up the tree: half of the ranks that are left send their sum and are done sending"),
    "tree_down": N_("down the tree: whoever has the result sends it on to one more rank"),
    "halving": N_("halving: partners swap halves of what they still sum, half as much each time"),
    "halving_back": N_("doubling: partners give each other what they have finished, twice as much each time"),
    "doubling": N_("doubling: partners swap whole arrays; each step doubles the ranks that are in a sum"),
    "inside_scatter": N_("reduce-scatter inside every node: only the fast links work"),
    "across_scatter": N_("reduce-scatter across the nodes, of each rank's own piece alone"),
    "across_gather": N_("all-gather across the nodes, of each rank's own piece alone"),
    "inside_gather": N_("all-gather inside every node: only the fast links work"),
    "ring_pipeline": N_("the array goes down the ring block by block, all links at work at once"),
    "exchange": N_("in step t every rank sends the block for the rank t places further"),
}
"""Phase -> what happens in it."""
_STARTS: Final = {
    Collective.ALL_GATHER: N_("every rank holds one of {blocks} blocks of {size}"),
    Collective.BROADCAST: N_("r{rank} alone holds the array, cut into {blocks} blocks of {size}"),
}
_STARTS_WHOLE: Final = {
    Collective.BROADCAST: N_("r{rank} alone holds the array of {size}, which stays in one piece"),
}
"""Collective -> what ranks hold before it begins, where a rank's array is cut and where it is not."""
_START: Final = N_("every rank holds its own array, cut into {blocks} blocks of {size}")
_START_WHOLE: Final = N_("every rank holds its own array of {size}, which stays in one piece")
NAMES: Final = {
    "start": N_("start"), "ring_scatter": N_("reduce-scatter"), "ring_gather": N_("all-gather"),
    "tree_up": N_("up the tree"), "tree_down": N_("down the tree"), "halving": N_("halving"),
    "halving_back": N_("doubling back"), "doubling": N_("doubling"), "inside_scatter": N_("inside: scatter"),
    "across_scatter": N_("across: scatter"), "across_gather": N_("across: gather"),
    "inside_gather": N_("inside: gather"), "ring_pipeline": N_("pipeline"), "exchange": N_("exchange"),
}  # fmt: skip
"""Phase -> its name on the track."""
_WAYS: Final = {
    "ring": N_("ring"), "tree": N_("tree"), "halving": N_("recursive halving"),
    "doubling": N_("recursive doubling"), "hierarchical": N_("hierarchical"), "direct": N_("direct"),
}  # fmt: skip

_TITLES: Final = {
    "ring": N_("ring {op}"), "tree": N_("tree {op}"), "halving": N_("recursive halving {op}"),
    "doubling": N_("recursive doubling {op}"), "hierarchical": N_("hierarchical {op}"),
    "direct": N_("direct {op}"),
}  # fmt: skip
"""Algorithm -> how it is called with its collective."""


def name_of(played: Played) -> str:
    """ "ring all-reduce"."""
    return tr(_TITLES[played.algorithm], op=played.op.value)


def answer_row(sight: Sight, width: int, pen: Pen) -> Row:
    """What is played, where it stands, what it has cost so far; the longest form that fits."""
    name, played = name_of(sight.played), sight.played
    size = short_size(played.payload, pen)
    ranks = _ranks(sight)
    over = tr("{name} of {size} over {n} ranks", name=name, size=size, n=ranks)
    step = tr("step {step} of {steps}", step=sight.frame.index, steps=sight.player.last)
    pair = pair_text(sight.frame.sent[sight.rank], sight.total, pen)
    rank = sight.number(sight.rank)
    sent, by_whom = tr("sent {pair}", pair=pair), tr("r{rank} sent {pair}", rank=rank, pair=pair)
    formula = f"({sight.volume.text})" if _is_formula(sight) else ""
    short = tr("{name} over {n} ranks", name=name, n=ranks) if sight.choice.group_ranks else f"{name}, {size}"
    forms = (
        f" {over}: {step}, {by_whom} {formula}", f" {over}: {step}, {by_whom}", f" {over}: {step}, {sent}",
        f" {short}: {step}, {sent}", f" {name}: {step}, {sent}", f" {name}: {step}",
    )  # fmt: skip
    text = next((form for form in forms if width_of(form) <= width), forms[-1])
    return fit((Span(text, "title"),), width)


def _ranks(sight: Sight) -> str:
    """ "8", or "128 of 512" where a part of the group is played as one of its own."""
    played, every = sight.played.ranks, sight.choice.group_ranks
    return tr("{n} of {all}", n=played, all=every) if every else str(played)


def _is_formula(sight: Sight) -> bool:
    """Whether the rank is one of those that send most, which the formula is of, and there is one to tell."""
    return sight.volume.factor != 1 and sight.total == sight.volume.factor * sight.played.payload


def step_rows(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """Two rows: what the step does, and what it does to the rank that is looked at, with the clock."""
    text = tr(_PHASES[sight.phase]) if sight.phase in _PHASES else ""
    if sight.phase == "start":
        text = _start(sight, pen)
    return (
        fit((Span(crop(f" {text}", width, pen.glyphs.ellipsis)),), width),
        beside(
            (Span(f" {_own(sight, pen)}", "dim"),), (Span(clock_text(sight.playback, pen), "dim"),), width
        ),
    )


def _start(sight: Sight, pen: Pen) -> str:
    """What ranks hold before the first step; of a group that is played in part, what the whole would take."""
    if every := sight.choice.group_ranks:
        return tr(
            "the first {n} of {all} ranks alone; all take {steps} steps",
            n=sight.played.ranks, all=every, steps=pen.numbers.integer(sight.whole_steps),
        )  # fmt: skip
    op, blocks = sight.played.op, len(sight.player.starts)
    said = _STARTS.get(op, _START) if blocks > 1 else _STARTS_WHOLE.get(op, _START_WHOLE)
    return tr(said, blocks=blocks, size=short_size(_block(sight), pen), rank=sight.number(0))


def _own(sight: Sight, pen: Pen) -> str:
    """The rank's own part in the step; at the end what it has all come to."""
    rank, name, frame = sight.rank, sight.number(sight.rank), sight.frame
    if frame.index == sight.player.last:
        return _sum(sight, pen)
    facts = []
    for each in sight.arrivals(rank)[:1]:
        block = sight.player.lands(each).start
        count, source = sight.frame.held[rank][block].bit_count(), sight.number(each.source)
        if each.add:
            text = tr(
                "r{rank} adds b{block} from r{source}: {n} of {all} ranks in it",
                rank=name, block=block, source=source, n=count, all=sight.played.ranks,
            )  # fmt: skip
        else:
            text = tr("r{rank} receives b{block} from r{source}", rank=name, block=block, source=source)
        facts.append(text)
    for each in frame.leaves(rank)[:1]:
        block = sight.player.blocks(each.start, each.stop).start
        facts.append(tr("sends b{block} to r{target}", block=block, target=sight.number(each.target)))
    if not facts:
        return tr("r{rank} waits", rank=name) if frame.index else _sum(sight, pen)
    return "; ".join(facts)


def _sum(sight: Sight, pen: Pen) -> str:
    """The formula with its numbers."""
    number, played = pen.numbers, sight.played
    total = number.size(int(sight.volume.factor * played.payload))
    return tr(
        "at most {formula} {times} {size} = {total} a rank, in {steps} steps, n = {n}",
        formula=sight.volume.text, times=pen.glyphs.times, size=number.size(played.payload), total=total,
        steps=sight.player.last, n=played.ranks,
    )  # fmt: skip


def _block(sight: Sight) -> int:
    starts = (*sight.player.starts, sight.player.procedure.elements)
    return max(starts[1] - starts[0], 0) * sight.player.item


def origin_facts(sight: Sight) -> tuple[str, ...]:
    """Which row of the traffic table this is, or that it is none; the first of them fits a narrow header."""
    choice = sight.choice
    if choice.row is None:
        return (tr("free choice"),)
    facts = (choice.group, tr(WHAT[choice.what]))
    if choice.group_ranks:
        return (*facts, tr("{n} of {all} ranks", n=sight.played.ranks, all=choice.group_ranks))
    return facts


def ways_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Every algorithm that takes the group, side by side; the one that is played is marked."""
    if box.height < 3:
        return ()
    head = rule_row(tr("{op} of {n} ranks", op=sight.played.op.value, n=sight.played.ranks), box.width, pen)
    lines = [_way(sight, way, pen) for way in _shown(sight, box.height - 2)]
    columns = (
        Column(tr("algorithm")), Column(tr("steps"), numeric=True),
        Column(tr("most sent by a rank"), numeric=True), Column(tr("as a formula"), rank=2),
        Column(tr("leaves a node") if sight.played.nodes > 1 else "", numeric=True, rank=1),
    )  # fmt: skip
    table = table_rows(columns, lines, box.width - 1, pen.glyphs.ellipsis)
    return (head, *(fit((Span(" "), *row), box.width) for row in table))[: box.height]


def _shown(sight: Sight, room: int) -> list[Way]:
    """The algorithms that fit, the one that is played among them."""
    ways = list(ways_of(sight.played))
    kept = ways[:room]
    played = next(way for way in ways if way.name == sight.played.name)
    return kept if played in kept else [*kept[:-1], played]


def _way(sight: Sight, way: Way, pen: Pen) -> tuple[Span, ...]:
    played = way.name == sight.played.name
    mark = pen.glyphs.pointer if played else " "
    role, number = "accent" if played else "text", pen.numbers
    algorithm = way.name.partition("-")[0] if way.name != "all-to-all" else "direct"
    return (
        Span(f"{mark} {tr(_WAYS[algorithm])}", role),
        Span(number.integer(way.steps), role),
        Span(number.size(way.sent), role),
        Span(f"{way.volume.text} {pen.glyphs.times} S", "dim"),
        Span(number.size(way.crossing) if sight.played.nodes > 1 else "", role),
    )
