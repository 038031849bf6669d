"""What there is to draw of a collective: the frame, the rank that is looked at, how each block stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.collectives.family import is_done, names_of, owners, phase_at, phases, player_of, volume
from scaletui_engine.collectives.wire import Collective

if TYPE_CHECKING:
    from scaletui.state.collective_choice import Choice
    from scaletui.state.playback import Playback
    from scaletui_engine.collectives.family import Played, Volume
    from scaletui_engine.collectives.player import Frame, Player
    from scaletui_engine.collectives.step import Transfer


class Stand(Enum):
    """How a block stands."""

    EMPTY = "empty"
    """Nothing of use."""
    PART = "part"
    """Some ranks' values, or what is not at its place yet."""
    SPENT = "spent"
    """Its sum went on to another rank."""
    DONE = "done"
    ARRIVES = "arrives"
    """Came in this step."""
    LEAVES = "leaves"
    """Was sent in this step."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of one rank."""

    stand: Stand
    count: int
    """Ranks whose values are in it; for copies and exchanges the rank that it comes from."""
    level: float
    """How full it is, 0 to 1."""


@dataclass(frozen=True)
class Sight:
    """A choice, a frame of it, and the reader's rank."""

    choice: Choice
    player: Player
    frame: Frame
    playback: Playback
    rank: int = 0

    @property
    def played(self) -> Played:
        """The collective."""
        return self.choice.played

    def number(self, place: int) -> int:
        """The rank at a place of the group."""
        return self.choice.members[place] if self.choice.members else place

    def node(self, place: int) -> int:
        """The cluster's node, or NVLink domain, in which a place of the group lies."""
        choice = self.choice
        if choice.members and choice.domain:
            return choice.members[place] // choice.domain
        return place // self.played.per_node

    def opens_node(self, place: int) -> bool:
        """Whether the place before lies elsewhere."""
        return place == 0 or self.node(place) != self.node(place - 1)

    @cached_property
    def nodes(self) -> int:
        """Nodes, or domains, of the ranks that are played."""
        return sum(map(self.opens_node, range(self.played.ranks)))

    def crosses(self, transfer: Transfer) -> bool:
        """Whether a message leaves the fast links."""
        return self.node(transfer.source) != self.node(transfer.target)

    @property
    def whole_steps(self) -> int:
        """Steps of the same algorithm over the row's whole group, where only a part of it is played."""
        choice = self.choice
        if not choice.group_ranks:
            return self.player.last
        return sum(steps for _, steps in phases(replace(choice.played, ranks=choice.group_ranks)))

    @property
    def phase(self) -> str:
        """Message id of what this step belongs to."""
        return phase_at(self.played, self.frame.index)

    @property
    def volume(self) -> Volume:
        """The formula."""
        return volume(self.played)

    @property
    def total(self) -> int:
        """Bytes that the rank will have sent."""
        return self.player.totals[self.rank]

    @cached_property
    def sums(self) -> bool:
        """Whether blocks count the ranks that are summed in them."""
        return self.played.op in (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER)

    @cached_property
    def _owners(self) -> tuple[int, ...]:
        return owners(self.player)

    @cached_property
    def _arrived(self) -> dict[int, frozenset[int]]:
        found: dict[int, frozenset[int]] = {}
        for each in self.frame.moving:
            found[each.target] = found.get(each.target, frozenset()) | frozenset(self.player.lands(each))
        return found

    @cached_property
    def _left(self) -> dict[int, frozenset[int]]:
        found: dict[int, frozenset[int]] = {}
        for each in self.frame.moving:
            blocks = self.player.blocks(each.start, each.stop)
            found[each.source] = found.get(each.source, frozenset()) | frozenset(blocks)
        return found

    def blocks(self, rank: int) -> tuple[Block, ...]:
        """All blocks of a rank."""
        held, spent = self.frame.held[rank], self.frame.spent[rank]
        arrived, left = self._arrived.get(rank, frozenset()), self._left.get(rank, frozenset())
        known: dict[tuple[int, bool, Stand], Block] = {}
        found: list[Block] = []
        for place, (bits, owner) in enumerate(zip(held, self._owners, strict=True)):
            done = is_done(self.played, bits, owner)
            marks = (bool(spent >> place & 1), place in arrived, place in left)
            key = (bits, done, self._stand(bits, done, marks))
            if key not in known:
                known[key] = self._block(*key)
            found.append(known[key])
        return tuple(found)

    def _stand(self, bits: int, done: bool, marks: tuple[bool, bool, bool]) -> Stand:
        spent, arrives, leaves = marks
        # An exchange sends from a buffer of its own: what has arrived at that place stays.
        stays = done and self.played.op is Collective.ALL_TO_ALL
        if arrives or (leaves and not stays):
            return Stand.ARRIVES if arrives else Stand.LEAVES
        if done:
            return Stand.DONE
        return Stand.SPENT if spent else Stand.PART if bits else Stand.EMPTY

    def _block(self, bits: int, done: bool, stand: Stand) -> Block:
        if not self.sums:
            return Block(stand, bits.bit_length() - 1, float(done) if bits else 0.0)
        return Block(stand, bits.bit_count(), bits.bit_count() / self.played.ranks)

    def arrivals(self, rank: int) -> tuple[Transfer, ...]:
        """What reaches a rank in this step."""
        return self.frame.arrives(rank)

    def done_blocks(self, rank: int) -> int:
        """Blocks of a rank that are finished."""
        held = zip(self.frame.held[rank], self._owners, strict=True)
        return sum(is_done(self.played, bits, owner) for bits, owner in held)


@lru_cache(maxsize=4)
def sight_of(choice: Choice, playback: Playback, rank: int, index: int) -> Sight:
    """What a reader sees of a choice at a frame; every part of the screen asks for it."""
    player = _player(choice.played)
    place = min(max(rank, 0), choice.played.ranks - 1)
    return Sight(choice, player, player.frame(min(max(index, 0), player.last)), playback, place)


def last_frame(choice: Choice) -> int:
    """Index of the last frame."""
    return _player(choice.played).last


@dataclass(frozen=True, slots=True)
class Way:
    """One algorithm of the collective: what it costs."""

    name: str
    steps: int
    volume: Volume
    sent: int
    """Bytes of the rank that sends most."""
    crossing: int
    """Bytes that leave a node, all ranks together."""


@lru_cache(maxsize=64)
def ways_of(played: Played) -> tuple[Way, ...]:
    """Every algorithm that takes the group, the one that is played among them."""
    return tuple(_way(played, name) for name in names_of(played.op, played.ranks, played.per_node))


def _way(played: Played, name: str) -> Way:
    other = replace(played, name=name)
    player = _player(other)
    crossing = sum(
        each.elements
        for step in player.procedure.steps
        for each in step.transfers
        if other.crosses(each.source, each.target)
    )
    return Way(name, player.last, volume(other), max(player.totals), crossing * player.item)


@lru_cache(maxsize=16)
def _player(played: Played) -> Player:
    return player_of(played)
