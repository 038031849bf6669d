"""What one pipeline rank holds and runs: its units, their states, its activations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations import LayerActivations, layer_activations
from scaletui_engine.memory.activations.layer import recomputed_layers
from scaletui_engine.memory.activations.saved import widths
from scaletui_engine.memory.census import Census, Unit, census_of, fused_shapes, moe_layers
from scaletui_engine.memory.inflight import Pipeline, in_flight
from scaletui_engine.memory.loss import kernel_of, loss_bytes
from scaletui_engine.memory.states import States, states_of
from scaletui_engine.stages import rank_stages

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.runtime import LossKernel
    from scaletui_engine.stages import Stage


@dataclass(frozen=True, slots=True)
class Kind:
    """Equal layers: one unit, its states, its activations."""

    unit: Unit
    states: States
    activations: LayerActivations
    fused_shapes: tuple[tuple[int, int], ...]
    """Weight matrices as Megatron fuses them: query, key and value; both inputs of a gated MLP."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The kinds of unit of a model on one rank; every pipeline rank is a sum of these."""

    load: Load
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
    stages: int
    """Pipeline stages that the rank holds."""
    layers: tuple[tuple[Kind, int], ...]
    ends: tuple[Unit, ...]
    """Embedding and head, where the rank holds them."""
    states: States
    in_flight: Fraction
    """Microbatches of the rank's layers alive at its peak."""
    stream: int
    kept: int
    """Activations that one microbatch leaves on the device, through all the rank's layers."""
    offloaded: int
    """Activations of one microbatch in host memory."""

    @property
    def activation_bytes(self) -> int:
        """Activations of every microbatch in flight."""
        return ceil(self.kept * self.in_flight)

    @property
    def largest(self) -> Kind | None:
        """The kind of layer whose unit is largest."""
        return max((kind for kind, _ in self.layers), key=lambda kind: kind.unit.numel, default=None)

    @property
    def last(self) -> Kind | None:
        """The kind of the rank's last layer, the first to run backward."""
        return self.layers[-1][0] if self.layers else None

    @property
    def layers_numel(self) -> int:
        """Elements inside the layers."""
        return sum(kind.unit.numel * count for kind, count in self.layers)

    @property
    def root_numel(self) -> int:
        """Elements outside the layers."""
        return sum(unit.numel for unit in self.ends)

    @property
    def head(self) -> Unit | None:
        """The output's unit, on the rank that computes the loss."""
        return next((unit for unit in self.ends if unit.name != "embedding"), None)

    @property
    def loss_kernel(self) -> LossKernel:
        """The kernel that the loss uses."""
        return kernel_of(self.load)

    @property
    def loss_bytes(self) -> int:
        """Logits and loss, on the rank that computes them."""
        return loss_bytes(self.load) if self.head is not None else 0

    @property
    def trainable(self) -> int:
        """Elements that get gradients."""
        inside = sum(kind.unit.trainable * count for kind, count in self.layers)
        return inside + sum(unit.trainable for unit in self.ends)

    @property
    def largest_tensor(self) -> int:
        """Elements of the largest parameter."""
        units = (*(kind.unit for kind, _ in self.layers), *self.ends)
        return max((prod(tensor.shape) for unit in units for tensor in unit.tensors), default=0)


def contents_of(load: Load) -> tuple[Contents, ...]:
    """Every pipeline rank of a plan."""
    pieces, plan = _pieces(load), load.plan
    ranks = rank_stages(load.arch.layers, plan)
    pipeline = Pipeline(plan.schedule, plan.axes.pp, max(plan.accumulation, 1), plan.chunks)
    flight = in_flight(pipeline) if plan.axes.pp > 1 else (Fraction(1),)
    return tuple(_rank(pieces, stages, (rank, flight[rank])) for rank, stages in enumerate(ranks))


def _pieces(load: Load) -> Pieces:
    census = census_of(load)
    ends = {unit.name: states_of(unit, load) for unit in (census.embedding, census.head, census.tied_head)}
    return Pieces(
        load=load,
        dense=_kind(load, census.dense, moe=False),
        moe=_kind(load, census.moe, moe=True),
        census=census,
        ends=ends,
        stream=widths(load).outer(load.arch.hidden),
    )


def _kind(load: Load, unit: Unit, *, moe: bool) -> Kind | None:
    if not unit.tensors:
        return None
    return Kind(unit, states_of(unit, load), layer_activations(load, unit, moe=moe), fused_shapes(unit))


def _rank(pieces: Pieces, stages: tuple[Stage, ...], place: tuple[int, Fraction]) -> Contents:
    load = pieces.load
    layers, ends = _layers(pieces, stages), _ends(pieces.census, stages)
    states = States()
    for kind, count in layers:
        states = states.plus(kind.states, count)
    for unit in ends:
        states = states.plus(pieces.ends[unit.name])
    kept, offloaded = _activations(load, layers)
    return Contents(
        load=load,
        rank=place[0],
        stages=len(stages),
        layers=layers,
        ends=ends,
        states=states,
        in_flight=place[1],
        stream=pieces.stream,
        kept=kept,
        offloaded=offloaded,
    )


def _activations(load: Load, layers: tuple[tuple[Kind, int], ...]) -> tuple[int, int]:
    """(on the device, in host memory) for one microbatch.

    Offloading leaves two layers' worth on the device: one on its way out and one on its way back.
    """
    total = 0
    for kind, count in layers:
        recomputed = recomputed_layers(load, count)
        total += kind.activations.kept_bytes * recomputed + kind.activations.full_bytes * (count - recomputed)
    if not load.plan.runtime.activation_offload:
        return total, 0
    stays = min(2 * max((kind.activations.kept_bytes for kind, _ in layers), default=0), total)
    return stays, total - stays


def _layers(pieces: Pieces, stages: tuple[Stage, ...]) -> tuple[tuple[Kind, int], ...]:
    experts = moe_layers(pieces.load.arch)
    moe = sum(_overlap(experts, stage.layers) for stage in stages)
    dense = sum(len(stage.layers) for stage in stages) - moe
    pairs = ((pieces.dense, dense), (pieces.moe, moe))
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
