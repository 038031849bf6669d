"""DeepSpeed's ZeRO optimizers, stages 1 to 3, known from the call in which they step PyTorch's optimizer.

ZeRO keeps flat single-precision partitions in the wrapped optimizer, which nothing leads away from, and steps
it once for each of its groups: `_optimizer_step(group_no)` of DeepSpeedZeroOptimizer
(deepspeed/runtime/zero/stage_1_and_2.py) and `_optimizer_step(sub_group_id)` of DeepSpeedZeroOptimizer_Stage3
(stage3.py), DeepSpeed 0.19. Our hook runs below that call, so that its frame shows the ZeRO optimizer and the
number of the group. Other wrappers of DeepSpeed (BF16_Optimizer, FP16_Optimizer, a second optimizer for
what is not offloaded) are recognised and not counted.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from scaletui_probe.fsdp2 import dtype_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

_PACKAGE = "deepspeed."
_STEP = "_optimizer_step"
_NUMBERS = ("group_no", "sub_group_id")
_DEEPEST = 12
"""Frames between our hook and the ZeRO optimizer at most: schedulers and scalers wrap a step too."""
_EARLY = ("bit16_groups", "bit16_groups_flat", "single_partition_of_fp32_groups", "averaged_gradients")
_LATE = ("fp16_groups", "fp32_partitioned_groups_flat", "averaged_gradients", "grad_partitions_flat_buffer")

_OFFLOAD = {1: "cpu_offload", 2: "cpu_offload", 3: "offload_optimizer"}

_OWNERS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
"""Optimizers that have been looked at, with a weak reference to what wraps them, or None."""


class Part(NamedTuple):
    """Which of a training step's calls of `step` one is."""

    begins: bool = True
    ends: bool = True


_WHOLE = Part()


def part(optimizer: Any) -> Part:
    """Ask from within a step hook: a step of an optimizer that ZeRO wraps has a part for each group."""
    if "deepspeed" not in sys.modules:
        return _WHOLE
    if optimizer not in _OWNERS:
        wrapper = _wrapper_above(optimizer)
        _OWNERS[optimizer] = None if wrapper is None else weakref.ref(wrapper)
    zero = owner(optimizer)
    if zero is None or not stage(zero):
        return _WHOLE
    numbers = (_number(frame.f_locals) for frame in _frames() if frame.f_code.co_name == _STEP)
    number = next(numbers, 0)
    return Part(number == 0, number == len(_groups(zero)) - 1)


def _frames() -> Iterator[FrameType]:
    """DeepSpeed's own among the nearest.

    Until it ends, a frame keeps what its variables were when somebody asked for them: asked of the job's own
    functions, that would keep the tensors of the first step for good.
    """
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame is None:
            return
        if str(frame.f_globals.get("__name__", "")).startswith(_PACKAGE):
            yield frame
        frame = frame.f_back


def _wrapper_above(optimizer: Any) -> Any:
    """The object of DeepSpeed, not its engine, in whose method this optimizer is stepped."""
    for frame in _frames():
        found = frame.f_locals.get("self")
        ours = type(found).__module__.startswith(_PACKAGE) and not hasattr(found, "named_parameters")
        if ours and found is not optimizer:
            return found
    return None


def _number(variables: Mapping[str, Any]) -> int:
    return next((int(variables[name]) for name in _NUMBERS if name in variables), 0)


def owner(optimizer: Any) -> Any:
    """What DeepSpeed has wrapped around an optimizer; None around all others."""
    reference = _OWNERS.get(optimizer) if _OWNERS else None
    return None if reference is None else reference()


def stage(zero: Any) -> int:
    """1, 2 or 3; 0 for a wrapper whose parts are not known."""
    if getattr(zero, "backup_optimizer", None) is not None:
        return 0
    if all(hasattr(zero, name) for name in _LATE):
        return 3
    if all(hasattr(zero, name) for name in _EARLY):
        return 2 if getattr(zero, "partition_gradients", False) else 1
    return 0


def is_readable(optimizer: Any) -> bool:
    """Whether the states behind an optimizer can be told: False below a wrapper that is not known."""
    zero = owner(optimizer)
    return zero is None or stage(zero) > 0


def _groups(zero: Any) -> list[Any]:
    return list(zero.fp16_groups if stage(zero) == 3 else zero.bit16_groups)


def units(optimizers: Iterable[Any]) -> list[ZeroUnit]:
    """The groups of every ZeRO optimizer around these."""
    owners = [owner(optimizer) for optimizer in optimizers]
    known = [zero for zero in owners if zero is not None and stage(zero)]
    return [ZeroUnit(zero, number) for zero in known for number in range(len(_groups(zero)))]


def named(optimizers: Iterable[Any]) -> list[tuple[str, Any]]:
    """The parameters of ZeRO's groups under the names that DeepSpeed keeps."""
    return [pair for unit in units(optimizers) for pair in unit.named()]


class ZeroUnit:
    """One group of a ZeRO optimizer: a flat buffer and this rank's partition of it."""

    wrapper = "deepspeed"

    def __init__(self, zero: Any, number: int) -> None:
        self._zero = zero
        self._number = number
        self._stage = stage(zero)

    def parameters(self) -> list[Any]:
        """The parameters that the modules compute with."""
        return list(_groups(self._zero)[self._number])

    def named(self) -> list[tuple[str, Any]]:
        """Parameters with their names; by group and index where DeepSpeed has kept none."""
        names = getattr(self._zero, "param_names", None) or {}
        return [
            (names.get(parameter) or f"{self._number}.{index}", parameter)
            for index, parameter in enumerate(self.parameters())
        ]

    def sharded_weights(self) -> list[Any]:
        """What this rank keeps to compute with: all of it in stages 1 and 2, its partitions in stage 3."""
        if self._stage < 3:
            return [self._zero.bit16_groups_flat[self._number]]
        kept = ("ds_tensor", "ds_secondary_tensor")
        return [getattr(parameter, name, None) for parameter in self.parameters() for name in kept]

    def master_weights(self) -> list[Any]:
        """The single-precision partition that the optimizer updates."""
        name = "fp32_partitioned_groups_flat" if self._stage == 3 else "single_partition_of_fp32_groups"
        return [getattr(self._zero, name)[self._number]]

    def sharded_gradients(self) -> list[Any]:
        """Averaged gradients of this rank's partition, and their single-precision copy during a step."""
        averaged = self._zero.averaged_gradients
        found = [averaged.get(self._number), getattr(self._zero, "grad_partitions_flat_buffer", None)]
        return [*found, *[partition.grad for partition in self.master_weights()]]

    def unsharded_weights(self) -> list[Any]:
        """Stage 3: parameters that are gathered now, or always because they are small."""
        return self.parameters() if self._stage == 3 else []

    def unsharded_gradients(self) -> list[Any]:
        """The buckets that gradients are copied into to be reduced."""
        buckets = getattr(self._zero, "ipg_buckets", None) or {}
        return [getattr(bucket, "buffer", None) for bucket in list(buckets.values())]

    def unreduced_gradients(self) -> list[Any]:
        """Whole gradients, from stage 2 on; in stage 1 they are what a rank keeps."""
        return [parameter.grad for parameter in self.parameters()] if self._stage > 1 else []

    def is_unsharded(self) -> bool:
        """Whether a parameter that is not kept whole for being small is whole now."""
        return self._stage == 3 and any(
            getattr(getattr(parameter, "ds_status", None), "name", "") == "AVAILABLE"
            for parameter in self.parameters()
            if not getattr(parameter, "ds_persist", False)
        )

    def mesh(self) -> Any:
        """ZeRO partitions over a process group; there is no mesh."""
        return None

    def facts(self) -> dict[str, Any]:
        """What the plan says of the group."""
        parameters = self.parameters()
        return {
            "name": f"zero{self._stage}.{self._number}",
            "param_dtype": dtype_name(getattr(next(iter(parameters), None), "dtype", None)),
            "reduce_dtype": None,
            "reshard_after_forward": self._stage == 3,
            "offload": bool(getattr(self._zero, _OFFLOAD[self._stage], False)),
            "shards": self._shards(parameters),
            "tensors": len(parameters),
            "zero": self._settings(next(iter(parameters), None)),
        }

    def _settings(self, first: Any) -> dict[str, Any]:
        """Settings that change what a rank holds."""
        secondary = getattr(first, "ds_secondary_tensor", None)
        pieces = (getattr(first, "ds_tensor", None), secondary)
        return {
            "round_robin": bool(getattr(self._zero, "round_robin_gradients", False)),
            "contiguous": bool(getattr(self._zero, "contiguous_gradients", True)),
            "accumulation_dtype": dtype_name(getattr(self._zero, "gradient_accumulation_dtype", None)),
            "aligned": bool(getattr(self._zero, "parameter_alignment", False)),
            "secondary_shards": 0 if secondary is None else int(first.ds_secondary_tensor_group_size),
            "quantized": any(hasattr(piece, "ds_quant_scale") for piece in pieces),
        }

    def _shards(self, parameters: list[Any]) -> int:
        if self._stage == 3:
            return int(getattr(next(iter(parameters), None), "ds_zero_partition_world_size", 1))
        return len(self._zero.parallel_partitioned_bit16_groups[self._number])
