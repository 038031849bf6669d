"""ZeRO optimizers as DeepSpeed 0.19 keeps them; loaded as a module of DeepSpeed, as its frames tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from probe.stand_ins import FakeTensor


class DeepSpeedZeroOptimizer:
    """Stages 1 and 2."""

    def __init__(self, optimizer: Any, groups: int, partition_gradients: bool) -> None:
        self.optimizer = optimizer
        self.partition_gradients = partition_gradients
        self.cpu_offload = False
        self.bit16_groups_flat = [FakeTensor(64) for _ in range(groups)]
        self.bit16_groups = [[parameter(flat), parameter(flat)] for flat in self.bit16_groups_flat]
        self.parallel_partitioned_bit16_groups = [[flat, flat] for flat in self.bit16_groups_flat]
        self.single_partition_of_fp32_groups = [FakeTensor(128, FakeTensor(128)) for _ in range(groups)]
        self.averaged_gradients: dict[int, Any] = {0: [FakeTensor(32)], 1: None}
        self.ipg_buckets = {"bf16": SimpleNamespace(buffer=[FakeTensor(48)])}
        self.param_names = {self.bit16_groups[0][0]: "layer.weight"}

    def step(self) -> None:
        for number in range(len(self.bit16_groups)):
            self._optimizer_step(number)

    def _optimizer_step(self, group_no: int) -> None:
        every, self.optimizer.param_groups = self.optimizer.param_groups, []
        self.optimizer.step()
        self.optimizer.param_groups = every


class DeepSpeedZeroOptimizer_Stage3:  # noqa: N801  # DeepSpeed's name
    """Stage 3: a small parameter stays whole, a larger one only while it is gathered."""

    def __init__(self, optimizer: Any, groups: int) -> None:
        self.optimizer = optimizer
        self.offload_optimizer = False
        self.fp16_groups = [[partitioned(0, "NOT_AVAILABLE"), partitioned(8, "AVAILABLE", persist=True)]]
        self.fp16_groups += [[partitioned(72, "AVAILABLE")] for _ in range(groups - 1)]
        self.fp32_partitioned_groups_flat = [FakeTensor(128, FakeTensor(128)) for _ in range(groups)]
        self.grad_partitions_flat_buffer = FakeTensor(32)
        self.averaged_gradients: dict[int, Any] = {}
        self.ipg_buckets = {"bf16": SimpleNamespace(buffer=FakeTensor(48))}

    def step(self) -> None:
        for number in range(len(self.fp16_groups)):
            self._optimizer_step(number)

    def _optimizer_step(self, sub_group_id: int) -> None:
        self.optimizer.step()


class BF16_Optimizer:  # noqa: N801  # DeepSpeed's name
    """A wrapper whose parts the probe does not know."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer

    def step(self) -> None:
        self.optimizer.step()


class DeepSpeedEngine(BF16_Optimizer):
    """Stage 0: the engine itself steps PyTorch's optimizer."""

    def named_parameters(self) -> list[Any]:
        return []


def parameter(flat: FakeTensor) -> FakeTensor:
    """A view of the flat buffer with a whole gradient."""
    view = FakeTensor(0, FakeTensor(16))
    view._storage = flat._storage
    return view


def partitioned(gathered: int, status: str, persist: bool = False) -> Any:
    found: Any = FakeTensor(gathered, FakeTensor(16))
    found.ds_tensor, found.ds_shape = FakeTensor(20), (2, 5)
    found.ds_status, found.ds_persist = SimpleNamespace(name=status), persist
    found.ds_zero_partition_world_size = 2
    return found
