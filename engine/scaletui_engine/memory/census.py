"""The parameters a rank holds: tensors cut by TP and EP, grouped into units that are gathered together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.model import Role, TpRule
from scaletui_engine.tensors import tensors
from scaletui_engine.tensors.experts import expert_layers
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.model import Arch, Tensor

EMBEDDING_ROLES = (Role.EMBEDDING, Role.POSITION)


@dataclass(frozen=True, slots=True)
class LocalTensor:
    """One parameter as a rank holds it after TP and EP, before data-parallel sharding."""

    name: str
    role: Role
    shape: tuple[int, ...]
    copies: int = 1
    """Experts of the rank."""
    trainable: bool = True

    @property
    def expert(self) -> bool:
        """Whether expert parallelism decides who holds it."""
        return self.role is Role.EXPERT

    @property
    def numel(self) -> int:
        """Elements of all copies."""
        return prod(self.shape) * self.copies


@dataclass(frozen=True, slots=True)
class Unit:
    """Tensors that are gathered, freed and reduced together: one layer, or what lies outside the layers."""

    name: str
    tensors: tuple[LocalTensor, ...]

    @property
    def numel(self) -> int:
        """Elements on the rank before data-parallel sharding."""
        return sum(tensor.numel for tensor in self.tensors)

    @property
    def trainable(self) -> int:
        """Elements that get gradients."""
        return sum(tensor.numel for tensor in self.tensors if tensor.trainable)


@dataclass(frozen=True, slots=True)
class Census:
    """The four kinds of unit a stage is built from."""

    dense: Unit
    moe: Unit
    embedding: Unit
    head: Unit
    """Final norm and output projection; with tied embeddings the table is in `embedding`."""
    tied_head: Unit
    """The same for a stage that does not hold the embedding and so needs its own copy of a tied table."""


def census_of(load: Load) -> Census:
    """Cut every tensor of the model for one rank."""
    arch = load.arch
    local = [(tensor, _cut(tensor, load)) for tensor in tensors(arch)]
    inside = [(tensor.layers, piece) for tensor, piece in local if tensor.layers is not None]
    outside = [piece for tensor, piece in local if tensor.layers is None]
    embedding = tuple(piece for piece in outside if piece.role in EMBEDDING_ROLES)
    head = tuple(piece for piece in outside if piece.role not in EMBEDDING_ROLES)
    table = tuple(piece for piece in embedding if piece.role is Role.EMBEDDING)
    return Census(
        dense=_layer("dense", inside, _layer_of_kind(arch, moe=False)),
        moe=_layer("moe", inside, _layer_of_kind(arch, moe=True)),
        embedding=Unit("embedding", embedding),
        head=Unit("head", head),
        tied_head=Unit("head", head + table if arch.tie else head),
    )


def moe_layers(arch: Arch) -> range:
    """The layers that hold experts in place of an MLP."""
    return range(0) if arch.moe is None else expert_layers(arch, arch.moe)


def _layer_of_kind(arch: Arch, *, moe: bool) -> int | None:
    experts = moe_layers(arch)
    return next((layer for layer in range(arch.layers) if (layer in experts) is moe), None)


def _layer(name: str, inside: list[tuple[range, LocalTensor]], layer: int | None) -> Unit:
    held = () if layer is None else tuple(piece for layers, piece in inside if layer in layers)
    return Unit(name, held)


def _cut(tensor: Tensor, load: Load) -> LocalTensor:
    expert = tensor.role is Role.EXPERT
    shape = _cut_shape(tensor, load, load.etp if expert else load.tp)
    copies = ceil_div(tensor.experts, load.plan.axes.ep) if expert else tensor.experts
    return LocalTensor(tensor.name, tensor.role, shape, copies, _trainable(tensor, load.plan.frozen))


def _trainable(tensor: Tensor, frozen: tuple[str, ...]) -> bool:
    return not any(tensor.role == word or tensor.name.startswith(word) for word in frozen)


def _cut_shape(tensor: Tensor, load: Load, degree: int) -> tuple[int, ...]:
    shape = tensor.shape
    if tensor.tp is TpRule.REPLICATED:
        return shape
    if tensor.tp is TpRule.ROW:
        return (*shape[:-1], ceil_div(shape[-1], degree))
    rows = load.vocab if tensor.tp is TpRule.VOCAB else shape[0]
    mine = ceil_div(rows, degree)
    if tensor.tp is TpRule.KV:
        mine = max(mine, load.arch.head_dim)
    return (mine, *shape[1:])
