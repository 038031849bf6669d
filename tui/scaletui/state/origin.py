"""Where a part's bytes come from: the numbers of its formula, for the legend and the explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.loss import SPLIT
from scaletui_engine.optimizers import optimizer

if TYPE_CHECKING:
    from scaletui_engine.memory.census import Unit
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Origin:
    """The numbers behind the parts of one pipeline stage."""

    parameters: int
    """Elements that the rank holds after TP and EP, before its data-parallel group shards them."""
    trainable: int
    """Those of them that get gradients."""
    experts: int
    """Those of the parameters that are routed experts, already dealt out by EP."""
    shard: int
    """Ranks over which states are sharded; 1 where nothing is."""
    expert_shard: int
    """The same for the states of routed experts."""
    weight_bytes: int
    gradient_bytes: int
    moment_bytes: int
    """Bytes of all moments of a parameter, where they are not quantised or factored; else 0."""
    master_bytes: int
    compute_bytes: int
    tokens: int
    """Of one microbatch on the rank."""
    layers: int
    in_flight: float
    """Microbatches alive at the stage's peak."""
    vocab: int
    """Columns of the logits on the rank."""
    loss_kernel: str
    has_head: bool
    unit_parameters: int
    """Elements of the largest layer on the rank, gathered."""
    ends_parameters: int
    """Elements outside the layers: embedding, last norm, output."""


def origins(scenario: Scenario) -> tuple[Origin, ...]:
    """One for each pipeline rank, in order. The scenario must be valid."""
    load = load_of(scenario.model.arch, scenario.plan)
    return tuple(_origin(contents) for contents in contents_of(load))


def _origin(contents: Contents) -> Origin:
    load, recipe = contents.load, contents.load.precision
    largest = contents.largest
    return Origin(
        parameters=contents.layers_numel + contents.root_numel,
        trainable=contents.trainable,
        experts=sum(_experts(kind.unit) * count for kind, count in contents.layers),
        shard=load.shard,
        expert_shard=load.expert_shard,
        weight_bytes=recipe.weights,
        gradient_bytes=recipe.gradients,
        moment_bytes=_moment_bytes(contents),
        master_bytes=recipe.master,
        compute_bytes=recipe.compute,
        tokens=load.tokens,
        layers=sum(count for _, count in contents.layers),
        in_flight=float(contents.in_flight),
        vocab=load.vocab // (load.tp if contents.loss_kernel in SPLIT else 1),
        loss_kernel=str(contents.loss_kernel),
        has_head=contents.head is not None,
        unit_parameters=largest.unit.numel if largest else 0,
        ends_parameters=contents.root_numel,
    )


def _experts(unit: Unit) -> int:
    return sum(tensor.numel for tensor in unit.tensors if tensor.expert)


def _moment_bytes(contents: Contents) -> int:
    load = contents.load
    rule = optimizer(load.plan.optimizer)
    if rule.bits is not None or rule.factored or rule.matrices:
        return 0
    return sum(load.precision.moments[: rule.moments])
