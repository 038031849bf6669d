"""Which ranks a person wants to see, from what was typed: "state:dead", "rank 8-15", "node-b", "> 90 %".

Every term has to hold. A comparison is with the memory used at the peak ("%"), with bytes held ("GiB") or
with the time of a step ("s", "ms"). Whatever is none of these is looked for in the host, the device and what
happened to the rank.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.judgement import held_bytes, used_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaletui_engine.live.snapshot import RankView

_TERM: Final = re.compile(
    r"(?P<sign>[<>]=?)\s*(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>%|[KMGT]i?B|ms|s)?(?=\s|$)"
    r"|(?:state|is)\s*:\s*(?P<state>\S+)"
    r"|(?:ranks?[\s:]*)?(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?(?=\s|$)"
    r"|(?P<word>\S+)",
    re.IGNORECASE,
)
_SIGNS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge}
_SCALES: Final = {
    "": 0.01, "%": 0.01, "s": 1e9, "ms": 1e6,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
    "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankFilter:
    """What was typed, and what it means."""

    text: str
    terms: tuple[Callable[[RankView], bool], ...]

    def of(self, ranks: Sequence[RankView]) -> tuple[RankView, ...]:
        """The ranks for which every term holds, in their order."""
        return tuple(rank for rank in ranks if all(term(rank) for term in self.terms))


def rank_filter(text: str) -> RankFilter:
    """The filter that a text asks for; an empty one lets every rank pass."""
    return RankFilter(text, tuple(_term(match) for match in _TERM.finditer(text)))


def _term(match: re.Match[str]) -> Callable[[RankView], bool]:
    if match["sign"]:
        return _comparison(match)
    if match["state"]:
        return _in_state(match["state"].lower())
    if match["first"]:
        first = int(match["first"])
        last = int(match["last"] or first)
        return lambda rank: first <= rank.identity.rank <= last
    word = match["word"].lower()
    return lambda rank: word in _words(rank)


def _comparison(match: re.Match[str]) -> Callable[[RankView], bool]:
    holds, unit = _SIGNS[match["sign"]], (match["unit"] or "").lower()
    limit = float(match["number"].replace(",", ".")) * _SCALES[unit]
    value = used_share if unit in ("", "%") else _step_ns if unit in ("s", "ms") else held_bytes

    def compare(rank: RankView) -> bool:
        found = value(rank)
        return found is not None and bool(holds(found, limit))

    return compare


def _step_ns(rank: RankView) -> int | None:
    return rank.step_ns


def _in_state(word: str) -> Callable[[RankView], bool]:
    """ "dead" is everything that does not run; a word is a state or a part of what happened."""
    if word == "dead":
        return lambda rank: rank.verdict.state is not RankState.RUNNING
    return lambda rank: word in (str(rank.verdict.state), str(rank.verdict.what)) or word in _said(rank)


def _said(rank: RankView) -> str:
    return f"{rank.verdict.what} {rank.verdict.detail}".lower()


def _words(rank: RankView) -> str:
    identity = rank.identity
    return f"{identity.host} {identity.device_uuid} {rank.verdict.state} {_said(rank)}".lower()
