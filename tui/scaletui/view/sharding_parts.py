"""What the parts of a sharded model are called."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_, tr
from scaletui_engine.sharding.part import Part

_NAMES: Final = {
    Part.WEIGHTS: N_("weights"),
    Part.GRADIENTS: N_("gradients"),
    Part.OPTIMIZER: N_("optimizer"),
    Part.ACTIVATIONS: N_("activations"),
    Part.UNREDUCED: N_("unreduced gradients"),
    Part.SECONDARY: N_("second weights (hpZ)"),
}


def part_text(part: Part) -> str:
    """The part in words."""
    return tr(_NAMES[part])
