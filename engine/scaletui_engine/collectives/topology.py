"""`nvidia-smi topo -m` as text: which link joins two GPUs, and the worst one in a group."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ParseError, ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Iterable

ORDER: Final = ("X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS")
"""From the nearest to the farthest; NV# is any number of NVLinks."""
ALIASES: Final = {"SOC": "SYS"}
"""SOC is what old drivers call SYS."""
_GPU: Final = re.compile(r"GPU(\d+)")
_LINK: Final = re.compile(r"X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC")
_NUMA: Final = re.compile(r"NUMA Affinity")


@dataclass(frozen=True, slots=True)
class Topology:
    """The matrix of links between GPUs."""

    links: tuple[tuple[str, ...], ...]
    numa: tuple[int | None, ...]
    """NUMA node of each GPU, where the text tells."""

    @property
    def gpus(self) -> int:
        """How many GPUs there are."""
        return len(self.links)

    @property
    def symmetric(self) -> bool:
        """Whether every link is the same in both directions."""
        every = range(self.gpus)
        return all(self.links[a][b] == self.links[b][a] for a in every for b in every)

    @property
    def all_nvlink(self) -> bool:
        """Whether NVLink joins every pair."""
        every = range(self.gpus)
        return all(self.links[a][b].startswith("NV") for a in every for b in every if a != b)

    def worst(self, gpus: Iterable[int]) -> str:
        """The farthest link inside a group. Raises ValueRangeError for a GPU that is not there."""
        group = tuple(gpus)
        for gpu in group:
            if not 0 <= gpu < self.gpus:
                raise ValueRangeError(f"GPU {gpu} is not in 0 <= GPU < {self.gpus}")
        return max((self.links[a][b] for a in group for b in group), key=distance, default="X")


def distance(link: str) -> tuple[int, int]:
    """A key that sorts links from near to far; of two NVLinks the wider is nearer."""
    if link.startswith("NV"):
        return ORDER.index("NV"), -int(link[2:])
    return ORDER.index(ALIASES.get(link, link)), 0


def parse_topology(text: str) -> Topology:
    """The GPU rows of the matrix. Raises ParseError where it is not square.

    Header names contain spaces and network columns follow, so a row's first columns are read by what they
    hold: as many links as there are GPUs in the header.
    """
    lines = text.splitlines()
    header = next((line for line in lines if len(_GPU.findall(line)) > 0), "")
    count = len(_GPU.findall(header.replace("GPU NUMA", "")))
    rows = [line.split() for line in lines if line is not header and _GPU.match(line)]
    links = tuple(tuple(ALIASES.get(word, word) for word in row[1 : count + 1]) for row in rows)
    if count == 0 or len(rows) != count or any(len(row) != count for row in links):
        raise ParseError(
            f"{len(rows)} GPU rows under {count} GPU columns: not the matrix of nvidia-smi topo -m"
        )
    for row in links:
        for word in row:
            if not _LINK.fullmatch(word):
                raise ParseError(f"{word[:20]!r} is no link of nvidia-smi topo -m", ", ".join(ORDER))
    return Topology(
        links, tuple(_numa(header, line) for line in lines if line is not header and _GPU.match(line))
    )


def _numa(header: str, line: str) -> int | None:
    """The number behind the CPU ranges, where the header has such a column."""
    if not _NUMA.search(header):
        return None
    words = line.split()
    cores = [index for index, word in enumerate(words) if re.fullmatch(r"\d+-\d+(,\d+-\d+)*", word)]
    after = words[cores[0] + 1] if cores and cores[0] + 1 < len(words) else ""
    return int(after) if after.isdecimal() else None
