"""What one pipeline rank holds and runs: its units, their states, its activations."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations import LayerActivations, layer_activations
from scaletui_engine.memory.activations.saved import widths
from scaletui_engine.memory.census import Census, Unit, census_of, moe_layers
from scaletui_engine.memory.inflight import Pipeline, in_flight
from scaletui_engine.memory.loss import loss_bytes
from scaletui_engine.memory.states import States, states_of
from scaletui_engine.stages import rank_stages

if TYPE_CHECKING:
    from fractions import Fraction

    from scaletui_engine.memory.load import Load
    from scaletui_engine.stages import Stage


@dataclass(frozen=True, slots=True)
class Kind:
    """Equal layers: one unit, its states, its activations."""

    unit: Unit
    states: States
    activations: LayerActivations


@dataclass(frozen=True, slots=True)
class Model:
    """The kinds of unit of a model on one rank; every pipeline rank is a sum of these."""

    dense: Kind | None
    moe: Kind | None
    census: Census
    ends: dict[str, States]
    """States of embedding, head and tied_head."""
    stream: int
    """Bytes of one residual stream tensor of a microbatch."""


@dataclass(frozen=True, slots=True)
class Contents:
    """One pipeline rank."""

    load: Load
    rank: int
    layers: tuple[tuple[Kind, int], ...]
    ends: tuple[Unit, ...]
    """Embedding and head, where the rank holds them."""
    states: States
    in_flight: Fraction
    """Microbatches of the rank's layers alive at its peak."""
    stream: int

    @property
    def kept_bytes(self) -> int:
        """Activations of one microbatch through all the rank's layers."""
        return sum(kind.activations.kept_bytes * count for kind, count in self.layers)

    @property
    def activation_bytes(self) -> int:
        """Activations of every microbatch in flight."""
        return ceil(self.kept_bytes * self.in_flight)

    @property
    def largest(self) -> Kind | None:
        """The kind of layer whose unit is largest."""
        return max((kind for kind, _ in self.layers), key=lambda kind: kind.unit.numel, default=None)

    @property
    def root_numel(self) -> int:
        """Elements outside the layers."""
        return sum(unit.numel for unit in self.ends)

    @property
    def layers_numel(self) -> int:
        """Elements inside the layers."""
        return sum(kind.unit.numel * count for kind, count in self.layers)

    @property
    def has_head(self) -> bool:
        """Whether the loss is computed here."""
        return any(unit.name in ("head", "tied_head") for unit in self.ends)

    @property
    def loss_bytes(self) -> int:
        """Logits and loss, on the rank that computes them."""
        return loss_bytes(self.load) if self.has_head else 0


def contents_of(load: Load) -> tuple[Contents, ...]:
    """Every pipeline rank of a plan."""
    model = _model(load)
    plan = load.plan
    pipeline = Pipeline(plan.schedule, plan.axes.pp, max(plan.accumulation, 1), plan.chunks)
    ranks = rank_stages(load.arch.layers, plan)
    return tuple(_rank(load, model, stages, (pipeline, rank)) for rank, stages in enumerate(ranks))


def _model(load: Load) -> Model:
    census = census_of(load)
    ends = {unit.name: states_of(unit, load) for unit in (census.embedding, census.head, census.tied_head)}
    return Model(
        dense=_kind(load, census.dense, moe=False),
        moe=_kind(load, census.moe, moe=True),
        census=census,
        ends=ends,
        stream=widths(load).outer(load.arch.hidden),
    )


def _kind(load: Load, unit: Unit, *, moe: bool) -> Kind | None:
    if not unit.tensors:
        return None
    return Kind(unit, states_of(unit, load), layer_activations(load, moe=moe))


def _rank(load: Load, model: Model, stages: tuple[Stage, ...], place: tuple[Pipeline, int]) -> Contents:
    pipeline, rank = place
    layers = _layers(load, model, stages)
    ends = _ends(model.census, stages)
    states = sum((kind.states.times(count) for kind, count in layers), States())
    for unit in ends:
        states += model.ends[unit.name]
    return Contents(load, rank, layers, ends, states, in_flight(pipeline, rank), model.stream)


def _layers(load: Load, model: Model, stages: tuple[Stage, ...]) -> tuple[tuple[Kind, int], ...]:
    experts = moe_layers(load.arch)
    moe = sum(_overlap(experts, stage.layers) for stage in stages)
    dense = sum(len(stage.layers) for stage in stages) - moe
    pairs = ((model.dense, dense), (model.moe, moe))
    return tuple((kind, count) for kind, count in pairs if kind is not None and count)


def _overlap(layers: range, window: range) -> int:
    """Members of `layers` inside the gapless `window`."""
    first = max(layers.start, window.start + (layers.start - window.start) % layers.step)
    return len(range(first, min(layers.stop, window.stop), layers.step))


def _ends(census: Census, stages: tuple[Stage, ...]) -> tuple[Unit, ...]:
    embedding = any(stage.embedding for stage in stages)
    head = any(stage.head for stage in stages)
    output = census.head if embedding else census.tied_head
    return (*((census.embedding,) if embedding else ()), *((output,) if head else ()))
