"""The sequence fits the model, and context and sequence parallelism cut it evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, ValueRangeError
from scaletui_engine.validate.nearest import nearest_multiple

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario


def check_sequence(scenario: Scenario) -> None:
    """Raises ValueRangeError for a sequence longer than the model's, DivisibilityError for an uneven cut."""
    plan, model = scenario.plan, scenario.model
    longest = longest_sequence(scenario)
    if longest is not None and plan.seq > longest:
        raise ValueRangeError(
            f"seq {plan.seq} > {longest}, the longest sequence of {model.id}", f"seq {longest}"
        )
    step = sequence_multiple(plan)
    if plan.seq % step:
        raise DivisibilityError(
            f"seq {plan.seq} / {_equation(plan)} is not a whole number", _nearest(plan, longest)
        )


def longest_sequence(scenario: Scenario) -> int | None:
    """Tokens: the table of learned positions, else what the model was made for; None where nothing says."""
    arch = scenario.model.arch
    return scenario.model.max_seq if arch.learned_pos is None else arch.learned_pos


def sequence_multiple(plan: Plan) -> int:
    """What must divide the sequence.

    Context parallelism cuts it into 2 cp chunks, head and tail to one rank, to balance causal attention
    (Megatron-LM get_batch_on_this_cp_rank; torch context_parallel); sequence parallelism cuts a rank's
    part into tp.
    """
    cp = 2 * plan.axes.cp if plan.axes.cp > 1 else 1
    return cp * (plan.axes.tp if plan.sequence_parallel else 1)


def _equation(plan: Plan) -> str:
    parts = [f"(2 x cp {plan.axes.cp})"] if plan.axes.cp > 1 else []
    if plan.sequence_parallel and plan.axes.tp > 1:
        parts.append(f"tp {plan.axes.tp}")
    return f"({' x '.join(parts)})" if len(parts) > 1 else parts[0]


def _nearest(plan: Plan, longest: int | None) -> str | None:
    step = sequence_multiple(plan)
    found = nearest_multiple(step, plan.seq)
    if longest is not None and found > longest:
        found -= step
    return f"seq {found}" if found > 0 else None
