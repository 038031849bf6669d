"""What PyTorch's optimizers keep for a parameter, by the class and the arguments that a plan names.

Source: `_init_group` of each class in torch/optim (torch 2.13). Moments are `zeros_like` the local tensor, so
they are not padded; every step scalar is a tensor of its own, on the CPU unless `fused` or `capturable`.
DeepSpeed's Adams (deepspeed/ops/adam, 0.19) count steps in a Python number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.fsdp2 import Moments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class OptimizerRule:
    """State of one parameter: moments, and 4-byte scalars."""

    moments: Moments
    scalars: int = 1
    """Step scalars a parameter; NAdam keeps a product of momenta beside the step."""


def optimizer_rule(name: str, arguments: Mapping[str, object]) -> OptimizerRule | None:
    """The rule for a class by its name with module; None for one that is not known."""
    module, _, kind = name.rpartition(".")
    known = _RULES.get(kind) if module.startswith("torch.optim") else _OF_DEEPSPEED.get(name)
    if known is None:
        return None
    copies, scalars = known(arguments)
    on_device = _on(arguments, "capturable") or _on(arguments, "fused")
    return OptimizerRule(Moments(copies, steps=scalars > 0, steps_on_device=on_device), scalars)


def _on(arguments: Mapping[str, object], name: str) -> bool:
    value = arguments.get(name)
    return value is not None and value is not False and value != 0


def _adam(arguments: Mapping[str, object]) -> tuple[int, int]:
    return 2 + _on(arguments, "amsgrad"), 1


def _sgd(arguments: Mapping[str, object]) -> tuple[int, int]:
    return int(_on(arguments, "momentum")), 0


def _rmsprop(arguments: Mapping[str, object]) -> tuple[int, int]:
    return 1 + _on(arguments, "momentum") + _on(arguments, "centered"), 1


_RULES: Final[dict[str, Callable[[Mapping[str, object]], tuple[int, int]]]] = {
    "Adam": _adam,
    "AdamW": _adam,
    "SGD": _sgd,
    "RMSprop": _rmsprop,
    "NAdam": lambda _: (2, 2),
    "RAdam": lambda _: (2, 1),
    "Adamax": lambda _: (2, 1),
    "Adadelta": lambda _: (2, 1),
    "Adagrad": lambda _: (1, 1),
    "Rprop": lambda _: (2, 1),
}
_OF_DEEPSPEED: Final[dict[str, Callable[[Mapping[str, object]], tuple[int, int]]]] = {
    "deepspeed.ops.adam.fused_adam.FusedAdam": lambda _: (2, 0),
    "deepspeed.ops.adam.cpu_adam.DeepSpeedCPUAdam": lambda _: (2, 0),
}
