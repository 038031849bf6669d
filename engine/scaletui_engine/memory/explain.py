"""Where the bytes of a part come from: its terms at the peak, their tensors, formulas and sources."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.formulas import Formula, formula_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases import peak_at, peaks_of
from scaletui_engine.memory.phases.pipeline import in_flight_terms
from scaletui_engine.memory.states import tensor_states

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.memory.activations import Saved
    from scaletui_engine.memory.census import Unit
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TensorBytes:
    """One tensor, or equal tensors of several layers."""

    name: str
    """A parameter's name, or the message id of an activation."""
    shape: tuple[int, ...]
    """Local shape of a parameter; empty for an activation."""
    count: int
    """Layers, times experts of the rank."""
    bytes: int
    """Of all of them."""


@dataclass(frozen=True, slots=True)
class Item:
    """One term of a part at the peak."""

    part: str
    name: str
    """Message id: "unsharded.gathering"."""
    bytes: int
    formula: Formula
    tensors: tuple[TensorBytes, ...]
    """What it is made of, largest first; empty where the term is no sum of tensors."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One pipeline rank at its peak, taken apart."""

    stage: int
    phase: str
    items: tuple[Item, ...]

    def of(self, part: str) -> tuple[Item, ...]:
        """The items of one part."""
        return tuple(item for item in self.items if item.part == part)


def explain(scenario: Scenario, stage: int = 0) -> Explanation:
    """The terms behind `evaluate(scenario).stages[stage]`, which sum to its parts. Wants a valid scenario."""
    contents = contents_of(load_of(scenario.model.arch, scenario.plan))[stage]
    moment = peak_at(peaks_of(contents), in_flight_terms(contents))
    sums: dict[tuple[str, str], int] = {}
    for part, name, size in moment.terms:
        sums[part, name] = sums.get((part, name), 0) + size
    items = tuple(
        Item(part, name, size, formula_of(name), _tensors(contents, name))
        for (part, name), size in sums.items()
        if size
    )
    return Explanation(stage, moment.phase, items)


def _tensors(contents: Contents, name: str) -> tuple[TensorBytes, ...]:
    found = tuple(_found(contents, name))
    return tuple(sorted(found, key=lambda tensor: -tensor.bytes))


def _found(contents: Contents, name: str) -> Iterator[TensorBytes]:
    field = {
        "weights.states": "weights", "optimizer.states": "optimizer",
        "master_weights.states": "master_weights", "gradients.reduced": "gradients",
    }.get(name)  # fmt: skip
    if field is not None:
        yield from _states(contents, field)
    elif name in ("activations.layers", "activations.in_flight"):
        for kind, count in contents.layers:
            yield from _saved(kind.activations.kept, count)
    elif name == "activations.recomputed" and contents.last is not None:
        kept = {saved.name for saved in contents.last.activations.kept}
        yield from _saved((s for s in contents.last.activations.everything if s.name not in kept), 1)
    elif name in ("unsharded.root", "unsharded.root_gradient"):
        for unit in contents.ends:
            yield from _whole(unit, contents, 1)
    elif name in ("unsharded.layer", "unsharded.gathering", "unsharded.gradient") and contents.largest:
        yield from _whole(contents.largest.unit, contents, 1)
    elif name in ("unsharded.layers", "unsharded.autocast_copies"):
        for kind, count in contents.layers:
            yield from _whole(kind.unit, contents, count)


def _states(contents: Contents, field: str) -> Iterator[TensorBytes]:
    units = [(kind.unit, count) for kind, count in contents.layers] + [(unit, 1) for unit in contents.ends]
    for unit, layers in units:
        for tensor in unit.tensors:
            size = getattr(tensor_states(tensor, contents.load), field) * layers
            if size:
                yield TensorBytes(tensor.name, tensor.shape, layers * tensor.copies, size)


def _saved(saved: Iterator[Saved] | tuple[Saved, ...], layers: int) -> Iterator[TensorBytes]:
    """Of one microbatch."""
    return (TensorBytes(tensor.name, (), layers, tensor.bytes * layers) for tensor in saved)


def _whole(unit: Unit, contents: Contents, layers: int) -> Iterator[TensorBytes]:
    item = contents.load.precision.compute
    for tensor in unit.tensors:
        size = prod(tensor.shape) * tensor.copies * item * layers
        yield TensorBytes(tensor.name, tensor.shape, layers * tensor.copies, size)
