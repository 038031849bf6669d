"""What a gap between measured and predicted memory most likely is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.scenario import Scenario

SLACK: Final = 0.05
"""Of the prediction: a smaller gap names nobody."""
LEAST_SHARE: Final = 0.6
"""Of a suspect's bytes: a gap between this and `MOST_SHARE` of them points at it."""
MOST_SHARE: Final = 1.15
STEPS: Final = 3
"""Peaks that must rise one after the other before they are called a leak."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One explanation of a gap."""

    id: str
    """Message id: "suspect.unsharded_weights"."""
    bytes: int
    """What it would add."""


def suspects(scenario: Scenario, gap: int, rank: int = 0) -> tuple[Suspect, ...]:
    """Explanations of measured less predicted bytes, the nearest first; none for a small gap.

    torchtitan #820 is the model: selective recompute kept abs() of the whole weights, a gap of their size.
    """
    contents = contents_of(load_of(scenario.model.arch, scenario.plan))[rank]
    load, held = contents.load, contents.states
    item = load.precision.compute
    whole = contents.layers_numel * item if load.plan.strategy.shards_weights else 0
    possible = (
        Suspect("suspect.unsharded_weights", whole),
        Suspect("suspect.unsharded_gradients", contents.trainable * item if whole else 0),
        Suspect("suspect.optimizer_twice", held.optimizer),
        Suspect("suspect.logits_kept", contents.loss_bytes),
        Suspect("suspect.activations_twice", contents.kept),
    )
    predicted = held.weights + held.optimizer + held.master_weights + contents.kept + contents.loss_bytes
    if gap < SLACK * predicted:
        return ()
    near = [one for one in possible if one.bytes and LEAST_SHARE <= gap / one.bytes <= MOST_SHARE]
    return tuple(sorted(near, key=lambda one: abs(gap - one.bytes)))


def leaks(peaks: Sequence[int]) -> bool:
    """Whether peaks of steps of equal shape only rise: a leak, not a plan (torchtitan #1230)."""
    rising = [later > earlier for earlier, later in pairwise(peaks)]
    return len(rising) >= STEPS and all(rising[-STEPS:])
