"""The units that move together in a step: a layer, the embedding, the output; their bytes and messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.memory.census import moe_layers
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.experts import apart
from scaletui_engine.sharding.flat_shares import units_of
from scaletui_engine.sharding.rank_view import stage_parameters
from scaletui_engine.sharding.traffic.data_rows import implemented_rows

if TYPE_CHECKING:
    from scaletui_engine.collectives.wire import Collective
    from scaletui_engine.memory.census import Unit
    from scaletui_engine.memory.contents import Contents, Kind
    from scaletui_engine.sharding.traffic.step import Step
    from scaletui_engine.sharding.traffic.step import Unit as TrafficUnit


@dataclass(frozen=True, slots=True)
class Wire:
    """One unit's share of a collective."""

    what: str
    """"weights_forward", "weights_backward", "weights_small", "weights", "gradients", "gradient_shards"."""
    op: Collective
    ranks: int
    payload: int
    times: int
    """How often in a step: once, or once a microbatch."""
    expert: bool = False
    kind: int = 0
    """Which row of the traffic table it is a part of, among those of the same kind of message."""


@dataclass(frozen=True, slots=True)
class PlayedUnit:
    """Parameters that move together, as one rank has them after tensor and expert parallelism."""

    name: str
    """"embedding", "head" or "layers.12"."""
    numel: int
    trainable: int
    down: int
    """Elements whose gradients are the first to exist."""
    kept: int
    """Bytes of reduced gradients that the rank keeps."""
    wires: tuple[Wire, ...]

    @property
    def is_layer(self) -> bool:
        """Whether it is one of the layers."""
        return self.name.startswith("layers.")

    def wire(self, what: str) -> tuple[Wire, ...]:
        """The messages of one kind."""
        return tuple(each for each in self.wires if each.what == what)


def units_of_step(step: Step, contents: Contents) -> tuple[PlayedUnit, ...]:
    """Embedding, layers, head, as far as the pipeline rank holds them, in the order of the forward pass."""
    kinds = _kinds(step)
    found = [_layer(contents, layer, kinds[layer]) for stage in step.stages for layer in stage.layers]
    total, start = max(contents.root_numel, 1), 0
    for unit in contents.ends:
        stop = start + unit.numel
        wires = tuple(
            replace(wire, payload=wire.payload * stop // total - wire.payload * start // total)
            for wire in kinds[None]
        )
        start = stop
        found.insert(0 if unit.name == "embedding" else len(found), _end(contents, unit, wires))
    return tuple(found)


def _kinds(step: Step) -> dict[int | None, tuple[Wire, ...]]:
    """Layer -> messages of one layer; None -> those of all that lies outside the layers."""
    held = stage_parameters(step.scenario, step.stage_rank)
    windows = [layers for _, layers in units_of(held, split=apart(step.load))]
    found: dict[int | None, tuple[Wire, ...]] = {None: ()}
    strategy = step.scenario.plan.strategy
    by_unit = strategy.shards_weights and strategy is not Strategy.ZERO3
    for place, (unit, where) in enumerate(zip(step.units, windows, strict=True)):
        # Without FSDP's units one row is of all parameters but the experts apart.
        kind = place if by_unit else int(unit.expert)
        wires = _wires(step, unit, kind)
        layers = [layer for window in where for layer in (window or (None,))]
        for layer in layers:
            is_last = layer is not None and layer == layers[-1]
            own = (_one(wire, unit, is_last=is_last) for wire in wires)
            found[layer] = (*found.get(layer, ()), *(wire for wire in own if wire.payload))
    return found


def _wires(step: Step, unit: TrafficUnit, kind: int) -> tuple[tuple[Wire, int], ...]:
    """(message of all units of a kind, how many of them take part)."""
    calls = implemented_rows(replace(step, units=(unit,)))
    return tuple(
        (Wire(call.what, call.op, call.ranks, call.payload, call.count, unit.expert, kind), call.messages)
        for _, call in calls
    )


def _one(of_all: tuple[Wire, int], unit: TrafficUnit, *, is_last: bool) -> Wire:
    """One unit's share; a last layer that stays whole is not gathered again."""
    wire, messages = of_all
    shares = messages if wire.what == "weights_backward" and messages == unit.count - 1 else unit.count
    if shares < unit.count and is_last:
        return replace(wire, payload=0)
    return replace(wire, payload=wire.payload // shares)


def _layer(contents: Contents, layer: int, wires: tuple[Wire, ...]) -> PlayedUnit:
    kind = _kind(contents, layer)
    return _played(f"layers.{layer}", kind.unit, kind.states.gradients, wires)


def _kind(contents: Contents, layer: int) -> Kind:
    moe = layer in moe_layers(contents.load.arch)
    kind = contents.pieces.moe if moe else contents.pieces.dense
    assert kind is not None
    return kind


def _end(contents: Contents, unit: Unit, wires: tuple[Wire, ...]) -> PlayedUnit:
    name = "embedding" if unit.name == "embedding" else "head"
    return _played(name, unit, contents.pieces.ends[unit.name].gradients, wires)


def _played(name: str, unit: Unit, kept: int, wires: tuple[Wire, ...]) -> PlayedUnit:
    return PlayedUnit(name, unit.numel, unit.trainable, unit.down, kept, wires)
