"""Trees and hypercubes: few steps for short messages.

Sources: Thakur, Rabenseifner and Gropp, IJHPCA 2005 (recursive doubling, recursive halving with doubling);
NCCL 2.4's double binary tree, of which one is enough to show the steps.
"""

from __future__ import annotations

from scaletui_engine.collectives.step import Procedure, Step, Transfer, procedure, step
from scaletui_engine.errors import DivisibilityError


def tree_all_reduce(ranks: int, elements: int) -> Procedure:
    """Sums go up a binomial tree to rank 0, and the result comes down."""
    up: list[Step] = []
    distance = 1
    while distance < ranks:
        up.append(
            step(
                [
                    Transfer(rank + distance, rank, 0, elements, add=True)
                    for rank in range(0, ranks - distance, 2 * distance)
                ]
            )
        )
        distance *= 2
    down = [_turned(each) for each in reversed(up)]
    return procedure("tree all-reduce", ranks, elements, [*up, *down])


def tree_broadcast(ranks: int, elements: int) -> Procedure:
    """Rank 0's array down a binomial tree: log2 n steps."""
    steps = tree_all_reduce(ranks, elements).steps
    return procedure("tree broadcast", ranks, elements, steps[len(steps) // 2 :])


def _turned(up: Step) -> Step:
    return Step(tuple(Transfer(t.target, t.source, t.start, t.stop) for t in up.transfers))


def doubling_all_reduce(ranks: int, elements: int) -> Procedure:
    """Recursive doubling: pairs at distance 1, 2, 4 ... exchange whole arrays. Raises DivisibilityError."""
    _check_power(ranks)
    steps: list[Step] = []
    distance = 1
    while distance < ranks:
        steps.append(step([Transfer(rank, rank ^ distance, 0, elements, add=True) for rank in range(ranks)]))
        distance *= 2
    return procedure("recursive doubling all-reduce", ranks, elements, steps)


def halving_all_reduce(ranks: int, elements: int) -> Procedure:
    """Recursive halving, then doubling: 2 log2 n steps, a ring's bytes. Raises DivisibilityError."""
    _check_power(ranks)
    windows = [(0, elements)] * ranks
    halving: list[Step] = []
    distance = ranks // 2
    while distance:
        sends: list[Transfer] = []
        kept: list[tuple[int, int]] = []
        for rank, (start, stop) in enumerate(windows):
            middle = (start + stop) // 2
            upper = bool(rank & distance)
            given = (start, middle) if upper else (middle, stop)
            kept.append((middle, stop) if upper else (start, middle))
            sends.append(Transfer(rank, rank ^ distance, *given, add=True))
        windows = kept
        halving.append(step(sends))
        distance //= 2
    doubling = [_returned(each) for each in reversed(halving)]
    return procedure("recursive halving all-reduce", ranks, elements, [*halving, *doubling])


def _returned(halved: Step) -> Step:
    """Each block comes back from where it was sent, now complete."""
    return Step(tuple(Transfer(t.target, t.source, t.start, t.stop) for t in halved.transfers))


def _check_power(ranks: int) -> None:
    if ranks < 1 or ranks & (ranks - 1):
        raise DivisibilityError(
            f"{ranks} ranks are no power of 2", f"{1 << max(ranks, 1).bit_length() - 1} ranks"
        )
