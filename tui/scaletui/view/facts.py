"""The scenario in a few words, as the header says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.scenario import Scenario

_AXES: Final = ("tp", "cp", "ep", "pp")


def scenario_facts(scenario: Scenario, pen: Pen) -> tuple[str, ...]:
    """Model, GPUs, mesh, precision, sequence: what matters most comes first."""
    cluster, plan = scenario.cluster, scenario.plan
    return (
        scenario.model.id,
        f"{cluster.gpus}{pen.glyphs.times} {cluster.gpu.id}",
        *mesh_facts(scenario),
        *microbatch_facts(scenario),
        plan.precision,
        tr("seq {tokens}", tokens=pen.numbers.integer(plan.seq)),
    )


def microbatch_facts(scenario: Scenario) -> Iterator[str]:
    """How many a pipeline has to fill it."""
    plan = scenario.plan
    if plan.axes.pp > 1:
        yield ntr("{n} microbatch", "{n} microbatches", plan.accumulation)


def mesh_facts(scenario: Scenario) -> Iterator[str]:
    """The strategy with its degree, then the axes above 1."""
    axes, strategy = scenario.plan.axes, str(scenario.plan.strategy)
    if axes.dp_replicate > 1 and axes.dp_shard > 1:
        yield f"{strategy} {axes.dp_replicate}x{axes.dp_shard}"
    else:
        yield f"{strategy} {axes.dp}"
    for name in _AXES:
        degree = getattr(axes, name)
        if degree > 1:
            yield f"{name} {degree}"
