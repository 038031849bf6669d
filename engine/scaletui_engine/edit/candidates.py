"""The values of a field that stepping goes through, in order, before the invalid ones are passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog import gpu_ids, model_ids
from scaletui_engine.optimizers import optimizer_ids
from scaletui_engine.plan import Offload, Recompute, Split, Strategy
from scaletui_engine.precisions import precision_ids
from scaletui_engine.schedule_rules import schedule_names
from scaletui_engine.validate.nearest import divisors
from scaletui_engine.validate.sequence import longest_sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.edit.fields import Value
    from scaletui_engine.scenario import Scenario

_ROUND: Final = tuple(sorted({1 << bit for bit in range(31)} | {3 << bit for bit in range(30)}))
"""Powers of two and those times three: the sizes of clusters, batches and sequences."""
_FIXED: Final[dict[str, tuple[Value, ...]]] = {
    "strategy": tuple(Strategy),
    "precision": precision_ids(),
    "optimizer": optimizer_ids(),
    "recompute": tuple(Recompute),
    "offload": tuple(Offload),
    "schedule": schedule_names(),
    "layer_split": tuple(Split),
    "reshard_after_forward": (False, True),
    "sequence_parallel": (False, True),
    "gpus_per_node": (1, 2, 4, 8, 16, 18, 36, 72),
}
_LARGEST_CLUSTER: Final = 1 << 17
_LARGEST_MICRO_BATCH: Final = 1 << 12
_LARGEST_ACCUMULATION: Final = 1 << 14
_SHORTEST_SEQ: Final = 128
_LONGEST_SEQ: Final = 1 << 20


def candidates(scenario: Scenario, field: str) -> Sequence[Value]:
    """Values of `field` in stepping order, valid or not."""
    if field in _FIXED:
        return _FIXED[field]
    if field == "model":
        return model_ids()
    if field == "gpu":
        return gpu_ids()
    return _numbers(scenario, field)


def _numbers(scenario: Scenario, field: str) -> Sequence[int]:
    plan, gpus = scenario.plan, scenario.cluster.gpus
    if field == "ep":
        return (1,) if scenario.model.arch.moe is None else divisors(scenario.model.arch.moe.experts)
    if field in ("tp", "cp", "pp"):
        return divisors(gpus)
    if field == "chunks":
        return range(1, scenario.model.arch.layers // plan.axes.pp + 1)
    if field == "seq":
        return _sequences(scenario)
    if field == "global_batch":
        each = plan.micro_batch * plan.axes.dp
        return tuple(each * count for count in _between(1, _LARGEST_ACCUMULATION))
    largest = _LARGEST_MICRO_BATCH if field == "micro_batch" else _LARGEST_CLUSTER
    return _between(1, largest)


def _between(low: int, high: int) -> tuple[int, ...]:
    return tuple(value for value in _ROUND if low <= value <= high)


def _sequences(scenario: Scenario) -> tuple[int, ...]:
    longest = longest_sequence(scenario) or _LONGEST_SEQ
    return tuple(sorted({*_between(min(_SHORTEST_SEQ, longest), longest), longest}))
