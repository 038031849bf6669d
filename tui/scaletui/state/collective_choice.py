"""Which collective is played: of a row of the traffic table, or one that the reader put together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui.state.seat import members
from scaletui_engine.collectives.family import FAMILY, Played, names_of
from scaletui_engine.collectives.wire import Collective
from scaletui_engine.sharding.traffic.table import groups_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scaletui.state.seat import Seat
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.traffic.table import TrafficRow

RANKS: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Sizes of groups that can be chosen; larger groups of a scenario are played with the largest of these."""
FREE_RANKS: Final = 4
FREE_PAYLOAD: Final = 1 << 30
LEAST_PAYLOAD: Final = 1 << 12
"""A single number is not cut into blocks."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Replaced with every key."""

    played: Played
    row: int | None = None
    """Place in the traffic table; None for what the reader put together."""
    group: str = ""
    """The row's axis."""
    what: str = ""
    """Message id of what the row sends."""
    group_ranks: int = 0
    """Ranks of the row's group, where they are more than are played."""
    members: tuple[int, ...] = ()
    """The ranks of the cluster that are played, ascending; empty for ranks of nowhere."""
    domain: int = 0
    """Ranks of the cluster that share the fast links; 0 where the ranks are of nowhere."""
    in_nodes: bool = True
    """Whether those ranks are a node; else an NVLink domain of more or less than one."""


FREE: Final = Choice(Played("ring-all-reduce", FREE_RANKS, FREE_PAYLOAD, FREE_RANKS))


def playable(rows: Sequence[TrafficRow]) -> tuple[int, ...]:
    """Places of the rows that have steps to show: no single sends, nothing too small to cut."""
    return tuple(
        place
        for place, row in enumerate(rows)
        if row.call.op is not Collective.SEND
        and row.call.ranks > 1
        and row.call.payload // row.call.messages >= LEAST_PAYLOAD
    )


def opened(scenario: Scenario, rows: Sequence[TrafficRow], row: int | None) -> Choice:
    """The selected row, else the one that sends most; four ranks of a free one where there is neither."""
    places = playable(rows)
    if not places:
        return FREE
    place = row if row in places else max(places, key=lambda each: rows[each].call.sent)
    return of_row(scenario, rows, place)


def of_row(scenario: Scenario, rows: Sequence[TrafficRow], place: int) -> Choice:
    """One collective of a row: its group, its payload, the ranks that share the fast links."""
    row = rows[place]
    ranks = max(size for size in RANKS if size <= max(row.call.ranks, RANKS[0]))
    ranks = row.call.ranks if row.call.ranks <= RANKS[-1] else ranks
    inside = min(_inside(scenario, row), ranks)
    played = Played(FAMILY[row.call.op][0], ranks, row.call.payload // row.call.messages, inside)
    more = row.call.ranks if row.call.ranks > ranks else 0
    return Choice(played, place, row.group, row.call.what, more)


def seated(scenario: Scenario, rows: Sequence[TrafficRow], choice: Choice, seat: Seat) -> Choice:
    """The choice with the ranks of a reader's own group: of a large one the first that are played."""
    if choice.row is None:
        return choice
    found, cluster = members(scenario, choice.group, rows[choice.row].call.ranks, seat), scenario.cluster
    played, own = choice.played, found[: choice.played.ranks]
    inside = _together(own, cluster.domain) if own else played.per_node
    return replace(
        choice,
        played=_valid(replace(played, per_node=inside)),
        members=own,
        domain=cluster.domain,
        in_nodes=cluster.domain == cluster.gpus_per_node,
    )


def place_of(choice: Choice, rank: int) -> int:
    """The place of a rank in the group that is played; the first one where it is not in it."""
    return choice.members.index(rank) if rank in choice.members else 0


def next_row(scenario: Scenario, rows: Sequence[TrafficRow], choice: Choice, steps: int) -> Choice:
    """The next row that can be played, and round again."""
    places = playable(rows)
    if not places:
        return choice
    if choice.row not in places:
        return of_row(scenario, rows, places[0 if steps > 0 else -1])
    return of_row(scenario, rows, places[(places.index(choice.row) + steps) % len(places)])


def next_op(choice: Choice) -> Choice:
    """Another collective on the same ranks."""
    played, ops = choice.played, tuple(FAMILY)
    op = ops[(ops.index(played.op) + 1) % len(ops)]
    return _free(replace(played, name=names_of(op, played.ranks, played.per_node)[0]))


def next_way(choice: Choice) -> Choice:
    """Another algorithm that takes so many ranks; the row stays the one that it is of."""
    played = choice.played
    names = names_of(played.op, played.ranks, played.per_node)
    name = names[(names.index(played.name) + 1) % len(names)]
    return replace(choice, played=replace(played, name=name))


def resized(choice: Choice, steps: int) -> Choice:
    """More ranks, or fewer; an algorithm that does not take them gives way to the first one that does."""
    played = choice.played
    larger = [size for size in RANKS if size > played.ranks]
    smaller = [size for size in reversed(RANKS) if size < played.ranks]
    sizes = larger if steps > 0 else smaller
    if not sizes:
        return choice
    ranks = sizes[0]
    return _free(_valid(replace(played, ranks=ranks, per_node=_nodes(ranks, played.per_node))))


def next_nodes(choice: Choice) -> Choice:
    """Nodes of another size: divisors of the group, from all in one node down to two ranks in each."""
    played = choice.played
    sizes = [size for size in range(played.ranks, 1, -1) if played.ranks % size == 0]
    place = sizes.index(played.per_node) if played.per_node in sizes else -1
    return _free(_valid(replace(played, per_node=sizes[(place + 1) % len(sizes)])))


def _free(played: Played) -> Choice:
    return Choice(played)


def _valid(played: Played) -> Played:
    names = names_of(played.op, played.ranks, played.per_node)
    return played if played.name in names else replace(played, name=names[0])


def _nodes(ranks: int, per_node: int) -> int:
    """The same nodes where they still divide the group, else all ranks in one."""
    return per_node if per_node < ranks and ranks % per_node == 0 else ranks


def _inside(scenario: Scenario, row: TrafficRow) -> int:
    """Ranks of one group that share an NVLink domain; the group's members are in ascending order."""
    groups = groups_named(scenario, row.group)
    members = groups.of(0) if groups.size < scenario.plan.axes.world else range(groups.size)
    return _together(members, scenario.cluster.domain)


def _together(members: Iterable[int], domain: int) -> int:
    """The most members of one NVLink domain."""
    return max(Counter(rank // domain for rank in members).values())
