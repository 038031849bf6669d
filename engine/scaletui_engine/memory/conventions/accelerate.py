"""Hugging Face accelerate's `estimate-memory`, in its own accounting.

Source: accelerate/commands/estimate.py, `estimate_training_usage`. It knows no activations, sharding, batch
or sequence, and what it prints for training is the largest of its four entries. In fp32 that entry is the sum
of all states, 16 bytes a parameter; in 16 bits it is the optimizer alone, 8 bytes, though weights and
gradients live beside it: our own states under mixed precision stay at 16.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AccelerateUsage:
    """The four entries, bytes."""

    model: int
    gradients: int
    optimizer: int
    step: int

    @property
    def printed(self) -> int:
        """What the command shows as training with Adam."""
        return max(self.model, self.gradients, self.optimizer, self.step)


def training_usage(params: int, dtype: str) -> AccelerateUsage:
    """For "float32", or one of "float16" and "bfloat16" as mixed precision."""
    fp32, fp16 = 4 * params, 2 * params
    if dtype == "float32":
        return AccelerateUsage(fp32, fp32, 2 * fp32, 4 * fp32)
    return AccelerateUsage(fp32, fp32 + fp16, 2 * fp32, 2 * fp32)
