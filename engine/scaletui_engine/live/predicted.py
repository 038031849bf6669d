"""What a rank should hold, or why that is not known; without the rules that predict it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.held import NOTHING, Held

PREDICTED: Final = ("weights", "gradients", "optimizer", "master_weights")
"""The categories that shapes and plan decide to the byte; master weights are a part of their own in ZeRO."""


class Unpredicted(StrEnum):
    """Why there is no prediction, or only part of one."""

    NOTHING = ""
    NO_PLAN = "no plan yet"
    """The job has not made its first optimizer step."""
    UNREAD = "the plan has not been read yet"
    """Plans of many ranks are read a few at a time."""
    PLAN_BROKEN = "the plan cannot be read"
    PLAN_CUT = "the plan is cut"
    """More parameters than fit into the ring."""
    WRAPPER = "no rule for this wrapper"
    ZERO = "no rule for this setting of ZeRO"
    """Parts may be predicted all the same; `detail` is a ZeroLack."""
    PLACEMENT = "no rule for this placement"
    DTYPE = "no rule for this dtype"
    OPTIMIZER = "no rule for this optimizer"
    """Weights and gradients are predicted all the same."""
    FLAT = "the flat parameter cannot be seen"
    """FSDP1 shows its original parameters; how much padding lies between them in the flat one is not known.
    The optimizer, which pads nothing, is predicted all the same."""


class ZeroLack(StrEnum):
    """What of ZeRO no rule covers."""

    OFFLOADED = "offloaded gradients"
    ELSEWHERE = "gradients beside other parallelism"
    SCATTERED = "gradients without contiguous buffers"
    ACCUMULATED = "gradients that accumulate in another dtype"
    ALIGNED = "aligned parameters"
    QUANTIZED = "quantized weights"


@dataclass(frozen=True, slots=True)
class Prediction:
    """Bytes that a rank should hold between two optimizer steps; None where there is no rule."""

    held: Held
    reason: Unpredicted = Unpredicted.NOTHING
    detail: str = ""
    """The class, wrapper or parameter that has no rule."""


NO_PLAN: Final = Prediction(NOTHING, Unpredicted.NO_PLAN)
UNREAD: Final = Prediction(NOTHING, Unpredicted.UNREAD)
