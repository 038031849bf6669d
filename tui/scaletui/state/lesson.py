"""The lesson's memory calculator asked about the scenario on the screen, next to the engine's answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.optimizers import optimizer
from scaletui_engine.plan import Strategy
from scaletui_engine.tensors import count_parameters

if TYPE_CHECKING:
    from scaletui_engine.memory.budget import Parts
    from scaletui_engine.scenario import Scenario

PRECISION_BYTES: Final = 2
"""What the lesson takes for a weight, a gradient and an activation."""
_SHARDING: Final = {
    Strategy.DDP: "none", Strategy.ZERO1: "zero1", Strategy.ZERO2: "zero2", Strategy.ZERO3: "zero3",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LessonLine:
    """One part by both accountings."""

    part: str
    lesson: int
    """Bytes; 0 for what the lesson does not count."""
    real: int

    @property
    def difference(self) -> int:
        """What the engine counts more."""
        return self.real - self.lesson


def lesson_lines(scenario: Scenario, parts: Parts) -> tuple[LessonLine, ...]:
    """Every part of a stage beside what the lesson would say of one of all GPUs."""
    lesson = lesson_bytes(scenario)
    return tuple(LessonLine(part, lesson.get(part, 0), amount) for part, amount in parts.items())


def lesson_bytes(scenario: Scenario) -> dict[str, int]:
    """Bytes by the lesson's rules, which know data parallelism alone: tp, pp and cp are not asked for."""
    from scaletui_engine.lesson import memory_calculator  # deferred: the lesson imports numpy

    arch, plan = scenario.model.arch, scenario.plan
    found = memory_calculator(
        count_parameters(arch).total / 1e9,
        PRECISION_BYTES,
        "adam" if optimizer(plan.optimizer).moments == 2 else "sgd",
        scenario.cluster.gpus,
        _SHARDING.get(plan.strategy, "fsdp"),
        plan.seq,
        plan.micro_batch,
        arch.hidden,
        arch.layers,
    )
    return {
        "weights": round(found["weights_gb"] * 1e9),
        "gradients": round(found["gradients_gb"] * 1e9),
        "optimizer": round(found["optimizer_gb"] * 1e9),
        "activations": round(found["activations_gb"] * 1e9),
    }
