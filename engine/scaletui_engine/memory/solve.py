"""The largest or smallest value of one field with which a scenario still fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.edit.set import with_value
from scaletui_engine.memory.evaluation import evaluate
from scaletui_engine.validate import problem
from scaletui_engine.validate.sequence import longest_sequence, sequence_multiple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaletui_engine.memory.budget import MemoryBudget
    from scaletui_engine.scenario import Scenario

LARGEST_MICRO_BATCH: Final = 1 << 16
LONGEST_SEQ: Final = 1 << 24
"""Tokens of a sequence where the model names no limit."""
MOST_GPUS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Solution:
    """What was found for one field."""

    field: str
    value: int | None
    """None where no value fits."""
    scenario: Scenario | None
    budget: MemoryBudget | None
    bound: int | None = None
    """The limit that ended the search before memory did: the model's longest sequence."""


def largest_micro_batch(scenario: Scenario) -> Solution:
    """The most sequences a microbatch may have."""
    return _largest(scenario, "micro_batch", range(1, LARGEST_MICRO_BATCH + 1))


def longest_seq(scenario: Scenario) -> Solution:
    """The most tokens a sequence may have, in steps of what cuts it."""
    step, most = sequence_multiple(scenario.plan), longest_sequence(scenario)
    limit = LONGEST_SEQ if most is None else most
    return _largest(scenario, "seq", range(step, limit + 1, step))


def fewest_gpus(scenario: Scenario) -> Solution:
    """The fewest GPUs with which the model-parallel axes stay as they are: dp alone gives way."""
    axes = scenario.plan.axes
    step = axes.tp * axes.cp * axes.pp
    choices = range(step, MOST_GPUS + 1, step)
    first = _first(choices, lambda gpus: _fits(with_value(scenario, "gpus", gpus)))
    while first < len(choices) and problem(with_value(scenario, "gpus", choices[first])) is not None:
        first = _next_power(choices, first)
    return _solution(scenario, "gpus", choices[first] if first < len(choices) else None)


def _largest(scenario: Scenario, field: str, choices: Sequence[int]) -> Solution:
    """The last of ascending choices that fits: more never needs less."""
    beyond = _first(choices, lambda value: not _fits(with_value(scenario, field, value)))
    if beyond == 0:
        return Solution(field, None, None, None)
    found = _solution(scenario, field, choices[beyond - 1])
    bound = choices[-1] if beyond == len(choices) else None
    return Solution(field, found.value, found.scenario, found.budget, bound)


def _first(choices: Sequence[int], holds: Callable[[int], bool]) -> int:
    """Index of the first choice that holds, given that all after it do; their number where none does.

    Doubles the index before it bisects, so that the answer costs the logarithm of itself.
    """
    low, high = -1, 0
    while high < len(choices) and not holds(choices[high]):
        low, high = high, 2 * high + 1
    high = min(high, len(choices))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(choices[middle]) else (middle, high)
    return high


def _next_power(choices: Sequence[int], index: int) -> int:
    """The next index whose choice is a power of two times the first: sizes that axes usually divide."""
    count = 1
    while count <= index + 1:
        count *= 2
    return count - 1


def _fits(scenario: Scenario) -> bool:
    return evaluate(scenario).fits


def _solution(scenario: Scenario, field: str, value: int | None) -> Solution:
    if value is None:
        return Solution(field, None, None, None)
    found = with_value(scenario, field, value)
    return Solution(field, value, found, evaluate(found))
