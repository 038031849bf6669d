"""What one pipeline rank holds and runs: its units, their states, its activations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations import LayerActivations, layer_activations
from scaletui_engine.memory.activations.layer import recomputed_layers
from scaletui_engine.memory.activations.saved import widths
from scaletui_engine.memory.census import Census, Unit, census_of, fused_shapes, moe_layers
from scaletui_engine.memory.inflight import CLOSED, Pipeline, in_flight
from scaletui_engine.memory.loss import kernel_of, loss_bytes
from scaletui_engine.memory.states import States, states_of
from scaletui_engine.runtime import Framework
from scaletui_engine.stages import rank_stages
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.model import Arch
    from scaletui_engine.plan import Plan
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


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The kinds of unit of a model on one rank, of which every pipeline rank is a sum; equal by identity."""

    load: Load
    dense: Kind | None
    moe: Kind | None
    census: Census
    ends: dict[str, States]
    """States of embedding, head and tied_head."""
    stream: int


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
    """Bytes of one residual stream tensor of a microbatch."""
    kept: int
    """Activations that one microbatch leaves on the device, through all the rank's layers."""
    offloaded: int
    """Activations of one microbatch in host memory."""
    largest: Kind | None
    """The kind of layer whose unit is largest."""
    head: Unit | None
    """The output's unit, on the rank that computes the loss."""
    layers_numel: int
    """Elements inside the layers."""
    root_numel: int
    """Elements outside the layers."""
    loss_kernel: LossKernel
    loss_bytes: int
    """Logits and loss, on the rank that computes them."""
    shape: Key
    """What equal ranks of a plan have in common."""
    pieces: Pieces
    """What they are made of."""
    layer_count: int
    """Layers of the rank."""
    torch_pipeline: bool
    """Whether torch.distributed.pipelining runs the stages."""
    sums_whole: bool
    """Whether gradients stay whole between microbatches: under no_sync, and in torch's pipelines.

    Those reduce in a step's last backward pass only (torch/distributed/pipelining/stage.py,
    `backward_maybe_with_nosync`).
    """

    @property
    def in_flight_bytes(self) -> int:
        """Activations of the microbatches in flight beside the one that runs."""
        flight = self.in_flight
        return max(ceil_div(self.kept * flight.numerator, flight.denominator) - self.kept, 0)

    @property
    def all_in_flight(self) -> bool:
        """Whether every microbatch is held at once, and a stage pass less from the first backward pass on.

        A schedule that splits the backward pass holds on to activations, and so may come back to its peak.
        """
        plan = self.load.plan
        return plan.axes.pp > 1 and plan.schedule in CLOSED and self.in_flight >= plan.accumulation

    @property
    def uneven(self) -> bool:
        """Whether only some layers are recomputed, so that equal layers keep unequal amounts."""
        return recomputed_layers(self.load, self.layer_count) != self.layer_count

    @property
    def last(self) -> Kind | None:
        """The kind of the rank's last layer, the first to run backward."""
        return self.layers[-1][0] if self.layers else None

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
    """Every pipeline rank of a plan; ranks that hold equal stages share everything but their place."""
    pieces, plan = _pieces(load), load.plan
    pipeline = Pipeline(plan.schedule, plan.axes.pp, max(plan.accumulation, 1), plan.chunks)
    flight = in_flight(pipeline) if plan.axes.pp > 1 else (Fraction(1),)
    keys = _keys(load.arch, plan)
    return tuple(_placed(_rank(pieces, key), rank, flight[rank]) for rank, key in enumerate(keys))


def representative(pieces: Pieces, shape: Key, *, all_in_flight: bool) -> Contents:
    """A rank that stands for all equal ones: what it holds does not depend on its place."""
    flight = max(pieces.load.plan.accumulation, 1) if all_in_flight else 1
    return _placed(_rank(pieces, shape), 0, Fraction(flight))


def _placed(contents: Contents, rank: int, flight: Fraction) -> Contents:
    """The same at a place of its own; `dataclasses.replace` would take most of an evaluation's time."""
    c = contents
    return Contents(
        c.load, rank, c.stages, c.layers, c.ends, c.states, flight, c.stream, c.kept, c.offloaded, c.largest,
        c.head, c.layers_numel, c.root_numel, c.loss_kernel, c.loss_bytes, c.shape, c.pieces,
        c.layer_count, c.torch_pipeline, c.sums_whole,
    )  # fmt: skip


Key = tuple[int, int, int, bool, bool]
"""Dense layers, expert layers, stages, embedding, head: what makes two ranks equal."""


@lru_cache(maxsize=256)
def _keys(arch: Arch, plan: Plan) -> tuple[Key, ...]:
    experts = moe_layers(arch)
    return tuple(_key(stages, experts) for stages in rank_stages(arch.layers, plan))


def _key(stages: tuple[Stage, ...], experts: range) -> Key:
    moe = sum(_overlap(experts, stage.layers) for stage in stages) if experts else 0
    dense = sum(len(stage.layers) for stage in stages) - moe
    embedding, head = any(stage.embedding for stage in stages), any(stage.head for stage in stages)
    return (dense, moe, len(stages), embedding, head)


@lru_cache(maxsize=128)
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


@lru_cache(maxsize=512)
def _rank(pieces: Pieces, key: Key) -> Contents:
    load, (dense, moe, stages, embedding, head) = pieces.load, key
    pairs = ((pieces.dense, dense), (pieces.moe, moe))
    layers = tuple((kind, count) for kind, count in pairs if kind is not None and count)
    ends = _ends(pieces.census, embedding=embedding, head=head)
    states = States()
    for kind, count in layers:
        states = states.plus(kind.states, count)
    for unit in ends:
        states = states.plus(pieces.ends[unit.name])
    kept, offloaded = _activations(load, layers)
    piped = load.plan.axes.pp > 1 and load.framework in (Framework.TORCH, Framework.HF)
    return Contents(
        load=load,
        rank=0,
        stages=stages,
        layers=layers,
        ends=ends,
        states=states,
        in_flight=Fraction(1),
        stream=pieces.stream,
        kept=kept,
        offloaded=offloaded,
        largest=max((kind for kind, _ in layers), key=lambda kind: kind.unit.numel, default=None),
        head=ends[-1] if head else None,
        layers_numel=sum(kind.unit.numel * count for kind, count in layers),
        root_numel=sum(unit.numel for unit in ends),
        loss_kernel=kernel_of(load),
        loss_bytes=loss_bytes(load) if head else 0,
        shape=key,
        pieces=pieces,
        layer_count=dense + moe,
        torch_pipeline=piped,
        sums_whole=load.plan.accumulation > 1 and (load.plan.runtime.no_sync or piped),
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


def _overlap(layers: range, window: range) -> int:
    """Members of `layers` inside the gapless `window`."""
    first = max(layers.start, window.start + (layers.start - window.start) % layers.step)
    return len(range(first, min(layers.stop, window.stop), layers.step))


def _ends(census: Census, *, embedding: bool, head: bool) -> tuple[Unit, ...]:
    output = census.head if embedding else census.tied_head
    return (*((census.embedding,) if embedding else ()), *((output,) if head else ()))
