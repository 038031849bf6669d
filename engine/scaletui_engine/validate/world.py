"""The axes multiply to the cluster's GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import WorldSizeError
from scaletui_engine.validate.nearest import nearest_divisor

if TYPE_CHECKING:
    from scaletui_engine.plan import Axes
    from scaletui_engine.scenario import Scenario


def check_world(scenario: Scenario) -> None:
    """Raises WorldSizeError with the product written out."""
    axes, gpus = scenario.plan.axes, scenario.cluster.gpus
    if axes.world != gpus:
        shown = product(axes)
        said = f"{shown} = {axes.world}" if " x " in shown else shown
        raise WorldSizeError(f"{said}, but the cluster has {gpus} GPUs", _nearest(axes, gpus))


def product(axes: Axes) -> str:
    """The axes that multiply the world: "dp 4 x tp 3 x pp 2", those of degree 1 left out."""
    replicated = axes.dp_replicate > 1 and axes.dp_shard > 1
    data = (
        [("dp_replicate", axes.dp_replicate), ("dp_shard", axes.dp_shard)]
        if replicated
        else [("dp", axes.dp)]
    )
    others = [("tp", axes.tp), ("cp", axes.cp), ("pp", axes.pp)]
    shown = data + [(name, degree) for name, degree in others if degree > 1]
    return " x ".join(f"{name} {degree}" for name, degree in shown)


def _nearest(axes: Axes, gpus: int) -> str | None:
    """dp alone where it mends the product, else the largest model axis that does, with dp following it."""
    ranks = axes.tp * axes.cp * axes.pp
    if gpus % ranks == 0:
        return _data_parallel(axes, gpus // ranks)
    for name, degree in sorted(
        (("tp", axes.tp), ("pp", axes.pp), ("cp", axes.cp)), key=lambda axis: -axis[1]
    ):
        left, rest = divmod(gpus, ranks // degree)
        if rest == 0:
            found = nearest_divisor(left, degree)
            dp = left // found
            return f"{name} {found}" if dp == axes.dp else f"{name} {found}, dp {dp}"
    return None


def _data_parallel(axes: Axes, left: int) -> str:
    """dp as it has to be, its replicas as near to those that were asked for as divides it."""
    if axes.dp_replicate == 1 or axes.dp_shard == 1:
        return f"dp {left}"
    replicas = nearest_divisor(left, axes.dp_replicate)
    return f"dp_replicate {replicas}, dp_shard {left // replicas}"
