"""Dynamic loss scaling, update by update, as torch, DeepSpeed and Megatron do it.

Sources: torch/amp/grad_scaler.py and torch._amp_update_scale_ (2.13); DeepSpeed runtime/fp16/loss_scaler.py
at edaa722; Megatron-LM arguments.py (initial scale 2^32, window 1000, hysteresis 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FP16_LIMIT: Final = 65520.0
"""From here up a value rounds to infinity in fp16."""


@dataclass(frozen=True, slots=True)
class TorchScaler:
    """GradScaler: no least scale, growth stops at the largest float32."""

    scale: float = 65536.0
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000
    tracker: int = 0

    def update(self, found_inf: bool) -> TorchScaler:
        """After one step. Raises ValueRangeError for factors that do not grow or shrink."""
        if self.growth_factor <= 1 or self.backoff_factor >= 1:
            raise ValueRangeError(
                f"growth {self.growth_factor:g} > 1 and backoff {self.backoff_factor:g} < 1 must hold"
            )
        if found_inf:
            return replace(self, scale=_fp32(self.scale * self.backoff_factor), tracker=0)
        if self.tracker + 1 < self.growth_interval:
            return replace(self, tracker=self.tracker + 1)
        grown = _fp32(self.scale * self.growth_factor)
        return replace(self, scale=grown if np.isfinite(grown) else self.scale, tracker=0)


@dataclass(frozen=True, slots=True)
class DeepSpeedScaler:
    """DynamicLossScaler: the first overflows only use up hysteresis; below the least scale it gives up."""

    scale: float = 65536.0
    window: int = 1000
    min_scale: float = 1.0
    delayed_shift: int = 2
    """Overflows in a row that lower the scale."""
    consecutive_hysteresis: bool = False
    hysteresis: int | None = None
    iteration: int = 0
    last_overflow: int = -1

    @property
    def patience(self) -> int:
        """Hysteresis left; it begins at `delayed_shift`."""
        return self.delayed_shift if self.hysteresis is None else self.hysteresis

    def update(self, overflow: bool) -> DeepSpeedScaler:
        """After one step. Raises ValueRangeError at the least scale."""
        found = self._lowered() if overflow else self._grown()
        return replace(found, iteration=self.iteration + 1)

    def _lowered(self) -> DeepSpeedScaler:
        if self.delayed_shift > 1 and self.patience > 1:
            return replace(self, hysteresis=self.patience - 1, last_overflow=self.iteration)
        if self.scale == self.min_scale:
            raise ValueRangeError(
                f"loss scale {self.scale:g} = min_scale {self.min_scale:g}: it cannot go lower"
            )
        lowered = max(self.scale / 2, self.min_scale)
        return replace(self, scale=lowered, last_overflow=self.iteration)

    def _grown(self) -> DeepSpeedScaler:
        patience = self.delayed_shift if self.consecutive_hysteresis else self.patience
        stable = self.iteration - self.last_overflow - 1
        if stable <= 0 or stable % self.window:
            return replace(self, hysteresis=patience)
        refilled = patience if self.consecutive_hysteresis else self.delayed_shift
        return replace(self, scale=self.scale * 2, hysteresis=refilled)


def megatron_scaler() -> DeepSpeedScaler:
    """Megatron's defaults in the same rule: it starts at 2^32."""
    return DeepSpeedScaler(scale=2.0**32)


@dataclass(frozen=True, slots=True)
class ScaledStep:
    """One optimizer step under a scaler."""

    skipped: bool
    param: float
    scale_after: float
    tracker: int


def sgd_steps(scaler: TorchScaler, multipliers: Iterable[float], lr: float = 0.1) -> Iterator[ScaledStep]:
    """w <- w - lr x (scaled gradient / scale) in float32, from w = 1 with gradient 1 times each multiplier.

    A step whose scaled gradient is not finite is skipped.
    """
    param = np.float32(1.0)
    for multiplier in multipliers:
        scaled = np.float32(scaler.scale) * np.float32(multiplier)
        skipped = not np.isfinite(scaled)
        if not skipped:
            gradient = np.float32(scaled * np.float32(1.0 / scaler.scale))
            param = np.float32(param - np.float32(lr) * gradient)
        scaler = scaler.update(skipped)
        yield ScaledStep(skipped, float(param), scaler.scale, scaler.tracker)


def largest_safe_scale(absmax: float) -> float:
    """Largest power of two under which a gradient of that size does not overflow fp16."""
    power = int(np.floor(np.log2(FP16_LIMIT / absmax)))
    scale = 2.0**power
    return scale / 2 if scale * absmax >= FP16_LIMIT else scale


def _fp32(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))
