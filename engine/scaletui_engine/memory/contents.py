"""What one pipeline rank holds and runs: its units, their states, its activations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.activations import LayerActivations, layer_activations
from scaletui_engine.memory.activations.layer import recomputed_layers
from scaletui_engine.memory.buffered import buffered
from scaletui_engine.memory.census import Census, Unit, census_of
from scaletui_engine.memory.cut import keys_of
from scaletui_engine.memory.flat import root_units, unit_states
from scaletui_engine.memory.inflight import CLOSED, Pipeline, in_flight
from scaletui_engine.memory.loss import kernel_of, loss_bytes
from scaletui_engine.memory.states import States, total_states
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.cut import Key
    from scaletui_engine.memory.load import Load
    from scaletui_engine.plan import Plan
    from scaletui_engine.runtime import LossKernel

_ONE: Final = Fraction(1)


@dataclass(frozen=True, slots=True)
class Kind:
    """Equal layers: one unit, its states, its activations."""

    unit: Unit
    states: States
    activations: LayerActivations


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The kinds of unit of a model on one rank, of which every pipeline rank is a sum; equal by identity."""

    load: Load
    dense: Kind | None
    moe: Kind | None
    census: Census
    ends: dict[str, States]
    """States of embedding, head and, where the token table is the output, tied_head."""
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
        return beside(self.kept, self.in_flight)

    @property
    def all_in_flight(self) -> bool:
        """Whether every microbatch is held at once, and a stage pass less from the first backward pass on.

        A schedule that splits the backward pass holds on to activations, and so may come back to its peak.
        """
        return holds_all(self.load.plan, self.in_flight)

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
    pieces, plan = pieces_of(load), load.plan
    places = zip(keys_of(load.arch, plan), flights_of(plan), strict=True)
    return tuple(_placed(_rank(pieces, key), rank, flight) for rank, (key, flight) in enumerate(places))


def flights_of(plan: Plan) -> tuple[Fraction, ...]:
    """Microbatches of its layers that each pipeline rank holds at its peak."""
    if plan.axes.pp == 1:
        return (_ONE,)
    return in_flight(Pipeline(plan.schedule, plan.axes.pp, max(plan.accumulation, 1), plan.chunks))


def holds_all(plan: Plan, flight: Fraction) -> bool:
    """`Contents.all_in_flight` of a rank that holds so many microbatches."""
    held = flight.numerator >= plan.accumulation * flight.denominator
    return held and plan.axes.pp > 1 and plan.schedule in CLOSED


def beside(kept: int, flight: Fraction) -> int:
    """Bytes of the other microbatches in flight where one keeps `kept`."""
    return max(ceil_div(kept * flight.numerator, flight.denominator) - kept, 0)


def representative(pieces: Pieces, shape: Key, *, all_in_flight: bool) -> Contents:
    """A rank that stands for all equal ones: what it holds does not depend on its place."""
    rank = _rank(pieces, shape)
    return _placed(rank, 0, Fraction(max(pieces.load.plan.accumulation, 1))) if all_in_flight else rank


def _placed(contents: Contents, rank: int, flight: Fraction) -> Contents:
    """The same at a place of its own; `dataclasses.replace` would take most of an evaluation's time."""
    c = contents
    return Contents(
        c.load, rank, c.stages, c.layers, c.ends, c.states, flight, c.stream, c.kept, c.offloaded, c.largest,
        c.head, c.layers_numel, c.root_numel, c.loss_kernel, c.loss_bytes, c.shape, c.pieces,
        c.layer_count, c.torch_pipeline, c.sums_whole,
    )  # fmt: skip


@lru_cache(maxsize=16)
def pieces_of(load: Load) -> Pieces:
    """What the ranks of a plan are made of."""
    census = census_of(load)
    units = {unit.name: unit for unit in (census.embedding, census.head, census.tied_head)}
    return Pieces(
        load=load,
        dense=_kind(load, census.dense, moe=False),
        moe=_kind(load, census.moe, moe=True),
        census=census,
        ends={name: unit_states(unit, load) for name, unit in units.items()},
        stream=load.widths.outer(load.arch.hidden),
    )


def _kind(load: Load, unit: Unit, *, moe: bool) -> Kind | None:
    if not unit.tensors:
        return None
    return Kind(unit, unit_states(unit, load), layer_activations(load, unit, moe=moe))


@lru_cache(maxsize=64)
def _rank(pieces: Pieces, key: Key) -> Contents:
    load, (dense, moe, stages, embedding, head) = pieces.load, key
    pairs = ((pieces.dense, dense), (pieces.moe, moe))
    layers = tuple((kind, count) for kind, count in pairs if kind is not None and count)
    ends = _ends(pieces.census, embedding=embedding, head=head)
    kept, offloaded = _activations(load, layers)
    piped = load.torch_pipeline
    return Contents(
        load=load,
        rank=0,
        stages=stages,
        layers=layers,
        ends=ends,
        states=_states(pieces, layers, ends),
        in_flight=_ONE,
        stream=pieces.stream,
        kept=kept,
        offloaded=offloaded,
        largest=_largest(layers),
        head=ends[-1] if head else None,
        layers_numel=sum([kind.unit.numel * count for kind, count in layers]),
        root_numel=sum([unit.numel for unit in ends]),
        loss_kernel=kernel_of(load),
        loss_bytes=loss_bytes(load) if head else 0,
        shape=key,
        pieces=pieces,
        layer_count=dense + moe,
        torch_pipeline=piped,
        sums_whole=load.plan.accumulation > 1 and (load.plan.runtime.no_sync or piped),
    )


def _states(pieces: Pieces, layers: tuple[tuple[Kind, int], ...], ends: tuple[Unit, ...]) -> States:
    units = root_units(ends, pieces.load)
    root = [pieces.ends[u.name] if units is ends else unit_states(u, pieces.load) for u in units]
    summed = total_states([*((k.states, n) for k, n in layers), *((one, 1) for one in root)])
    return buffered(summed, [*((k.unit, n) for k, n in layers), *((u, 1) for u in ends)], pieces.load)


def _largest(layers: tuple[tuple[Kind, int], ...]) -> Kind | None:
    if len(layers) == 1:
        return layers[0][0]
    return max((kind for kind, _ in layers), key=lambda kind: kind.unit.numel, default=None)


def _activations(load: Load, layers: tuple[tuple[Kind, int], ...]) -> tuple[int, int]:
    """(on the device, in host memory) for one microbatch.

    Offloading leaves two layers' worth on the device: one on its way out and one on its way back.
    """
    total = before = 0
    for kind, count in layers:
        recomputed = recomputed_layers(load, before + count) - recomputed_layers(load, before)
        before += count
        total += kind.activations.kept_bytes * recomputed + kind.activations.full_bytes * (count - recomputed)
    if not load.plan.runtime.activation_offload:
        return total, 0
    stays = min(2 * max((kind.activations.kept_bytes for kind, _ in layers), default=0), total)
    return stays, total - stays


def _ends(census: Census, *, embedding: bool, head: bool) -> tuple[Unit, ...]:
    output = census.head if embedding else census.tied_head
    return (*((census.embedding,) if embedding else ()), *((output,) if head else ()))
