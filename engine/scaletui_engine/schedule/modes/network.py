"""A graph of actions and messages, and the longest path through it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes by number."""

    cost: list[float]
    before: list[list[int]]
    """What must have ended before each node starts."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Start and end of every node; -1 where a circle keeps it from starting."""

    start: list[float]
    end: list[float]


def longest_paths(network: Network) -> Paths:
    """Kahn's order: a node starts when all it waits for have ended."""
    count = len(network.cost)
    missing = [len(before) for before in network.before]
    after: list[list[int]] = [[] for _ in range(count)]
    for node, before in enumerate(network.before):
        for other in before:
            after[other].append(node)
    start, end = [0.0] * count, [-1.0] * count
    ready = [node for node in range(count) if not missing[node]]
    while ready:
        node = ready.pop()
        end[node] = start[node] + network.cost[node]
        for other in after[node]:
            missing[other] -= 1
            start[other] = max(start[other], end[node])
            if not missing[other]:
                ready.append(other)
    return Paths([s if e >= 0 else -1.0 for s, e in zip(start, end, strict=True)], end)
