"""Rings: every rank sends one block to the next rank in every step (Patarasuk and Yuan, 2009)."""

from __future__ import annotations

from scaletui_engine.collectives.step import Procedure, Step, Transfer, block, procedure, step
from scaletui_engine.units import ceil_div


def scatter_steps(members: tuple[int, ...], window: tuple[int, int]) -> list[Step]:
    """n - 1 steps after which member i holds the sum of block i of the window."""
    n, (start, stop) = len(members), window
    steps: list[Step] = []
    for turn in range(n - 1):
        sends: list[Transfer] = []
        for place, rank in enumerate(members):
            low, high = block(stop - start, n, (place - turn - 1) % n)
            sends.append(Transfer(rank, members[(place + 1) % n], start + low, start + high, add=True))
        steps.append(step(sends))
    return steps


def gather_steps(members: tuple[int, ...], window: tuple[int, int]) -> list[Step]:
    """n - 1 steps in which block i of the window travels from member i to all the others."""
    n, (start, stop) = len(members), window
    steps: list[Step] = []
    for turn in range(n - 1):
        sends: list[Transfer] = []
        for place, rank in enumerate(members):
            low, high = block(stop - start, n, (place - turn) % n)
            sends.append(Transfer(rank, members[(place + 1) % n], start + low, start + high))
        steps.append(step(sends))
    return steps


def ring_reduce_scatter(ranks: int, elements: int) -> Procedure:
    """Rank i ends with block i of the sum."""
    steps = scatter_steps(tuple(range(ranks)), (0, elements))
    return procedure("ring reduce-scatter", ranks, elements, steps)


def ring_all_gather(ranks: int, elements: int) -> Procedure:
    """Rank i begins with block i, and all end with all blocks."""
    return procedure("ring all-gather", ranks, elements, gather_steps(tuple(range(ranks)), (0, elements)))


def ring_all_reduce(ranks: int, elements: int) -> Procedure:
    """A reduce-scatter, then an all-gather: 2 (n - 1) steps, 2 (n - 1) / n of the array per rank."""
    members, window = tuple(range(ranks)), (0, elements)
    steps = [*scatter_steps(members, window), *gather_steps(members, window)]
    return procedure("ring all-reduce", ranks, elements, steps)


def ring_broadcast(ranks: int, elements: int) -> Procedure:
    """Rank 0's array in n blocks, one after the other along the ring."""
    steps: list[Step] = []
    for turn in range(2 * ranks - 2):
        sends: list[Transfer] = []
        for rank in range(ranks - 1):
            index = turn - rank
            if 0 <= index < ranks:
                sends.append(Transfer(rank, rank + 1, *block(elements, ranks, index)))
        steps.append(step(sends))
    return procedure("ring broadcast", ranks, elements, steps)


def direct_all_to_all(ranks: int, elements: int) -> Procedure:
    """In step t rank i sends block i + t to that rank, which puts it at place i.

    Blocks are equal, as ncclAlltoAll's count is the same for all: the array is padded to a multiple of ranks.
    """
    each = ceil_div(elements, ranks)
    steps: list[Step] = []
    for turn in range(1, ranks):
        sends: list[Transfer] = []
        for rank in range(ranks):
            target = (rank + turn) % ranks
            sends.append(Transfer(rank, target, target * each, (target + 1) * each, place=rank * each))
        steps.append(step(sends))
    return procedure("direct all-to-all", ranks, each * ranks, steps)
