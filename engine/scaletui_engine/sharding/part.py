"""What a rank can hold of a model: its states, gradients on their way to a sum, and activations."""

from __future__ import annotations

from typing import Final

from scaletui_engine.compat import StrEnum


class Part(StrEnum):
    """One kind of tensor."""

    WEIGHTS = "weights"
    GRADIENTS = "gradients"
    """As they are kept until the optimizer's step."""
    OPTIMIZER = "optimizer"
    ACTIVATIONS = "activations"
    """Of the microbatch that all data-parallel ranks run together."""
    UNREDUCED = "unreduced"
    """Gradients as the backward pass leaves them: every data-parallel rank has a term of the sum."""
    SECONDARY = "secondary"
    """ZeRO++'s second copy of the weights, cut inside a group of ranks (hpZ)."""


STATES: Final = (Part.WEIGHTS, Part.GRADIENTS, Part.OPTIMIZER)
"""What a rank keeps from step to step, or up to the optimizer's."""
