"""Predictions for measured rows: the right quantity of the right pipeline rank."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scoring.memory_fields import MissingFieldError, Record, text, whole
from scoring.memory_gpus import capacity_of
from scoring.memory_habits import corrected
from scoring.memory_model import arch_of
from scoring.memory_plan import plan_of

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.host import host_budget
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.outside import CONTEXT_EAGER, CONTEXT_LAZY, outside_range
from scaletui_engine.model import Model
from scaletui_engine.scenario import Scenario
from scaletui_engine.units import GIB
from scaletui_engine.validate import validate

if TYPE_CHECKING:
    from scaletui_engine.memory.budget import MemoryBudget, StageBudget
    from scaletui_engine.memory.contents import Contents


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the engine says, in the record's unit."""

    value: float | None
    reason: str = ""
    fits: bool | None = None
    """For out-of-memory rows: whether the engine says that it fits."""
    within: bool | None = None
    """For rows about a range: whether the published value lies in it."""


BETWEEN_STEPS = {"micro_batch": 1, "seq_len": 1024, "ac": "none"}
"""What a row about the states alone need not say."""


def measured(record: Record) -> Prediction:
    """The quantity that the row measured."""
    words = record.quantity.lower()
    held = any(name in words for name in ("init", "states", "end of step"))
    if held:
        record = replace(record, config={**BETWEEN_STEPS, **record.config})
    scenario = scenario_of(record)
    if quantity_of(record) == "host":
        return in_unit(record, host_budget(scenario).high, "host memory of a node")
    if "init" in words:
        return in_unit(record, _rank(record, scenario).states.weights, "weights")
    if held:
        states = _rank(record, scenario).states
        size = states.weights + states.gradients + states.optimizer + states.master_weights
        return in_unit(record, size, "states")
    stages = _stages(record, evaluate(scenario))
    name = quantity_of(record)
    stage = max(stages, key=lambda stage: _value(stage, name))
    return in_unit(record, _value(stage, name), f"{name} of rank {stage.stage}, {stage.phase}")


def quantity_of(record: Record) -> str:
    """allocated, reserved, driver or host: what the words of the row mean."""
    words = record.quantity.lower()
    if any(name in words for name in ("host", "cpu ram", "cpu mem", "dram")):
        return "host"
    if "reserved" in words or "memory_cached" in words or words.startswith("torchtitan"):
        return "reserved"
    if any(name in words for name in ("nvidia-smi", "nvml", "gpu memory", "driver", "memory.used")):
        return "driver"
    return "allocated"


def scenario_of(record: Record) -> Scenario:
    """Model, cluster and plan of a row, a valid one. Raises MissingFieldError and ScenarioError."""
    _spelled_out(record)
    record = corrected(record)
    arch = arch_of(record.config)
    plan = plan_of(record, arch)
    gpu = replace(load_gpu("h100-sxm"), usable_bytes=capacity_of(record))
    model = Model("record", "record", arch, None, record.source)
    scenario = Scenario(model, Cluster(gpu, plan.axes.world), plan)
    validate(scenario)
    return scenario


def _spelled_out(record: Record) -> None:
    """What the engine could express if the row said it. Raises MissingFieldError."""
    if text(record.config, "techniques") == "['baseline (unpacked)']":
        raise MissingFieldError("missing field tokens of a batch (unpacked, padded to its longest sample)")
    offloads = text(record.config, "activation_offload")
    if offloads and text(record.config, "ac") == "none":
        raise MissingFieldError("missing field activation_offload (which activations go to the host)")


def classify(record: Record) -> Prediction:
    """Fits or not, by the likely reserve and the least that lies outside."""
    capacity = capacity_of(record)
    if capacity is None:
        raise MissingFieldError("missing field capacity")
    needed = max(_likely(stage) for stage in evaluate(scenario_of(record)).stages)
    words = f"needs {needed / GIB:.1f} of {capacity / GIB:.1f} GiB"
    return Prediction(needed / record.unit_bytes, words, fits=needed <= capacity)


def fits_of(record: Record) -> bool | None:
    """Whether the engine says that a measured row fits on its GPU; None where the row names no capacity."""
    capacity = capacity_of(record)
    if capacity is None:
        return None
    return max(_likely(stage) for stage in evaluate(scenario_of(record)).stages) <= capacity


def overhead(record: Record) -> Prediction:
    """Rows about memory outside the allocator: the labelled range of a job of that size."""
    words = text(record.config, "what")
    low, high = CONTEXT_LAZY, CONTEXT_EAGER
    if not words.startswith("cuda context") and "lazy" not in words:
        record_of_mesh = replace(record, config={**MESH, **record.config})
        scenario = scenario_of(record_of_mesh)
        reach = outside_range(contents_of(load_of(scenario.model.arch, scenario.plan))[0])
        low, high = reach.low, reach.high
    unit = record.unit_bytes
    inside = record.expected is not None and low / unit <= record.expected <= high / unit
    return Prediction((low + high) / 2 / unit, f"range {low / unit:.2f} to {high / unit:.2f}", within=inside)


MESH = {
    "model": "mixtral-8x7b", "pp": 4, "ep": 8, "fsdp": 8, "micro_batch": 1, "seq_len": 4096, "ac": "full",
    "framework": "torchtitan", "param_dtype": "fp32", "num_microbatches": 8,
}  # fmt: skip
"""A job of several mesh axes, for rows that name only the overhead."""


def in_unit(record: Record, size: float, reason: str = "") -> Prediction:
    """Bytes in the record's unit."""
    return Prediction(size / record.unit_bytes, reason)


def _likely(stage: StageBudget) -> int:
    return stage.reserved.likely + stage.outside.low


def _value(stage: StageBudget, name: str) -> int:
    if name == "allocated":
        return stage.peak_bytes + stage.workspaces
    if name == "reserved":
        return stage.reserved.likely
    return stage.reserved.likely + (stage.outside.low + stage.outside.high) // 2


def _stages(record: Record, budget: MemoryBudget) -> tuple[StageBudget, ...]:
    """The rank that the row names, else all of them."""
    stage = _named_rank(record, len(budget.stages))
    return budget.stages if stage is None else (budget.stages[stage],)


def _rank(record: Record, scenario: Scenario) -> Contents:
    ranks = contents_of(load_of(scenario.model.arch, scenario.plan))
    return ranks[_named_rank(record, len(ranks)) or 0]


def _named_rank(record: Record, ranks: int) -> int | None:
    """The pipeline rank that a row is about. Raises MissingFieldError for one that its plan does not have."""
    stage = whole(record.config, "pp_stage")
    match = re.search(r"pp rank (\d+)", record.quantity.lower())
    if stage is None and match:
        stage = int(match[1])
    elif stage is None and record.quantity.lower().endswith("rank 0"):
        stage = 0
    if stage is not None and not 0 <= stage < ranks:
        raise MissingFieldError(f"missing field pp_stage ({stage} is none of 0 to {ranks - 1})")
    return stage
