"""Time of a collective: NCCL's latency and bandwidth model, with the cheapest algorithm and protocol.

Source: NCCL src/graph/tuning.cc (baseLatencies, hwLatencies, `ncclTopoTuneModel`): microseconds for LL, LL128
and Simple. A protocol's bandwidth: LL half of the link, LL128 120 / 128, Simple all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Final

from scaletui_engine.collectives.wire import Collective, nvls_factor, wire_factor
from scaletui_engine.compat import StrEnum
from scaletui_engine.units import ceil_div


class Algorithm(StrEnum):
    """How the ranks pass the data on."""

    RING = "ring"
    TREE = "tree"
    HIERARCHICAL = "hierarchical"
    NVLS = "nvls"
    DIRECT = "direct"
    """Every pair by itself: sends and all-to-all."""


_BASE: Final = {Algorithm.TREE: (6.8, 14.0, 8.4), Algorithm.RING: (6.6, 14.0, 8.4)}
_INSIDE: Final = {Algorithm.TREE: (0.6, 1.25, 4.0), Algorithm.RING: (0.6, 1.9, 3.4)}
_NETWORK: Final = {Algorithm.TREE: (5.0, 8.5, 14.0), Algorithm.RING: (2.7, 4.0, 14.0)}
_RATE: Final = (0.5, 120 / 128, 1.0)
_NVLS_US: Final = 25.0
_NVLS_EFFICIENCY: Final = 0.85


@dataclass(frozen=True, slots=True)
class Wires:
    """The links of a group: `per_domain` of its ranks share the fast one."""

    ranks: int
    per_domain: int
    inside: float
    """Bytes a second and GPU, one direction."""
    outside: float
    """The same over the network."""
    nvls: bool = False
    """An NVSwitch that sums."""

    @property
    def domains(self) -> int:
        """NVLink domains of the group."""
        return ceil_div(self.ranks, self.per_domain)

    @property
    def slowest(self) -> float:
        """What a flat ring is bound by."""
        return self.inside if self.domains == 1 else self.outside


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds, and the algorithm that takes them."""

    seconds: float
    algorithm: Algorithm


def cost(op: Collective, payload: int, wires: Wires) -> Cost:
    """The cheapest algorithm that the collective has."""
    if wires.ranks < 2 or payload == 0:
        return Cost(0.0, Algorithm.DIRECT)
    options = [_direct(op, payload, wires)] if op in (Collective.SEND, Collective.ALL_TO_ALL) else []
    if not options:
        options = [ring(op, payload, wires)]
    if op is Collective.ALL_REDUCE:
        options.append(tree(payload, wires))
        if wires.domains > 1 and wires.per_domain > 1:
            options.append(hierarchical(payload, wires))
        if wires.nvls and wires.domains == 1:
            options.append(nvls(payload, wires))
    return min(options, key=lambda option: option.seconds)


def ring(op: Collective, payload: int, wires: Wires) -> Cost:
    """lat + S / bw; 2 (n - 1) steps for an all-reduce, else n - 1, of which some cross the network."""
    rounds = 2 if op is Collective.ALL_REDUCE else 1
    across = rounds * (wires.domains - 1) if wires.domains > 1 else 0
    inside = rounds * (wires.ranks - 1) - across
    sent = float(wire_factor(op, wires.ranks)) * payload
    return Cost(_best(Algorithm.RING, (inside, across), sent / wires.slowest), Algorithm.RING)


def tree(payload: int, wires: Wires) -> Cost:
    """Binary trees over nodes, chains inside: lat = base + 2 ((g - 1) intra + log2(N) inter), 2 S / bw."""
    inside = 2 * (min(wires.per_domain, wires.ranks) - 1)
    across = 2 * ceil(log2(wires.domains))
    return Cost(_best(Algorithm.TREE, (inside, across), 2 * payload / wires.slowest), Algorithm.TREE)


def hierarchical(payload: int, wires: Wires) -> Cost:
    """Reduce-scatter inside, all-reduce of a piece across, all-gather inside: only S / g leaves a domain."""
    group = Wires(wires.per_domain, wires.per_domain, wires.inside, wires.outside)
    across = Wires(wires.domains, 1, wires.inside, wires.outside)
    part = ceil_div(payload, wires.per_domain)
    parts = (
        ring(Collective.REDUCE_SCATTER, payload, group),
        ring(Collective.ALL_REDUCE, part, across),
        ring(Collective.ALL_GATHER, payload, group),
    )
    return Cost(sum(each.seconds for each in parts), Algorithm.HIERARCHICAL)


def nvls(payload: int, wires: Wires) -> Cost:
    """All-reduce in the switch: 25 us and (n + 1) / n of the payload at 85 percent of the link."""
    sent = float(nvls_factor(wires.ranks)) * payload
    return Cost(_NVLS_US * 1e-6 + sent / (wires.inside * _NVLS_EFFICIENCY), Algorithm.NVLS)


def _direct(op: Collective, payload: int, wires: Wires) -> Cost:
    """Pairwise messages: those that leave the domain share the GPU's network link."""
    if op is Collective.SEND:
        return Cost(_best(Algorithm.RING, _one_hop(wires), payload / wires.slowest), Algorithm.DIRECT)
    share = payload / wires.ranks
    near = min(wires.per_domain, wires.ranks) - 1
    far = wires.ranks - 1 - near
    busy = max(share * near / wires.inside, share * far / wires.outside if far else 0.0)
    return Cost(_best(Algorithm.RING, _one_hop(wires), busy), Algorithm.DIRECT)


def _one_hop(wires: Wires) -> tuple[int, int]:
    return (1, 0) if wires.domains == 1 else (0, 1)


def _best(algorithm: Algorithm, steps: tuple[int, int], transfer_s: float) -> float:
    """The cheapest protocol: base + steps inside + steps over the network, plus the bytes at its rate."""
    inside, across = steps
    return min(
        (base + inside * near + across * far) * 1e-6 + transfer_s / rate
        for base, near, far, rate in zip(
            _BASE[algorithm], _INSIDE[algorithm], _NETWORK[algorithm], _RATE, strict=True
        )
    )
