"""The parameters a rank holds: tensors cut by TP and EP, grouped into units that are gathered together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.model import Role, TpRule
from scaletui_engine.sharding.fused_names import fused_name
from scaletui_engine.tensors import tensors
from scaletui_engine.tensors.experts import expert_layers
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.model import Arch, Tensor
    from scaletui_engine.runtime import Lora

TABLES: Final = (Role.EMBEDDING, Role.POSITION)
QUANTIZED: Final = (Role.ATTENTION, Role.MLP, Role.EXPERT, Role.SHARED_EXPERT)
"""What QLoRA holds in 4 bits: the matrices inside the layers."""


@dataclass(frozen=True, slots=True)
class LocalTensor:
    """One parameter as a rank holds it after TP and EP, before data-parallel sharding."""

    name: str
    role: Role
    shape: tuple[int, ...]
    copies: int = 1
    """Experts of the rank."""
    trainable: bool = True
    quantized: bool = False
    """Held in 4-bit NF4."""

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
    numel: int
    """Elements on the rank before data-parallel sharding."""
    trainable: int
    """Those of them that get gradients."""
    down: int
    """Those of the second projections, whose gradients are the first to exist."""


@dataclass(frozen=True, slots=True)
class Census:
    """The kinds of unit that a pipeline rank is built from."""

    dense: Unit
    moe: Unit
    embedding: Unit
    head: Unit
    """Final norm and output projection; with tied embeddings the table is in `embedding`."""
    tied_head: Unit
    """The same for a rank without the embedding, which needs its own copy of a tied table."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """All that decides how tensors are cut and which of them are trained."""

    arch: Arch
    tp: int
    ep: int
    etp: int
    vocab: int
    split_vocab: bool
    copies_kv: bool
    """Whether ranks that share a key/value head each hold it whole; Megatron cuts its fused rows evenly."""
    frozen: tuple[str, ...]
    lora: Lora | None


def census_of(load: Load) -> Census:
    """Cut every tensor of the model for one rank."""
    plan = load.plan
    split = plan.runtime.split_vocab
    degrees = (load.tp, plan.axes.ep, load.etp)
    return _census(_Cut(load.arch, *degrees, load.vocab, split, not load.megatron, plan.frozen, plan.lora))


@lru_cache(maxsize=64)
def _census(cut: _Cut) -> Census:
    groups = _groups(cut.arch)
    pieces = {tensor.name: _pieces(tensor, cut) for tensor in tensors(cut.arch)}
    head = _unit("head", groups.head, pieces)
    tied = head if not cut.arch.tie else _unit("tied_head", groups.head + groups.table, pieces)
    return Census(
        dense=_unit("dense", groups.dense, pieces),
        moe=_unit("moe", groups.moe, pieces),
        embedding=_unit("embedding", groups.embedding, pieces),
        head=head,
        tied_head=tied,
    )


def moe_layers(arch: Arch) -> range:
    """The layers that hold experts in place of an MLP."""
    return range(0) if arch.moe is None else expert_layers(arch, arch.moe)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Names of the tensors of every unit, in the model's order."""

    dense: tuple[str, ...]
    moe: tuple[str, ...]
    embedding: tuple[str, ...]
    head: tuple[str, ...]
    table: tuple[str, ...]
    """The token table, where it is the output projection too."""


@lru_cache(maxsize=256)
def _groups(arch: Arch) -> _Groups:
    outside = [tensor for tensor in tensors(arch) if tensor.layers is None]
    table = [tensor.name for tensor in outside if tensor.role is Role.EMBEDDING] if arch.tie else []
    return _Groups(
        dense=_of_layer(arch, moe=False),
        moe=_of_layer(arch, moe=True),
        embedding=tuple(tensor.name for tensor in outside if tensor.role in TABLES),
        head=tuple(tensor.name for tensor in outside if tensor.role not in TABLES),
        table=tuple(table),
    )


def _of_layer(arch: Arch, *, moe: bool) -> tuple[str, ...]:
    """Of the first layer of that kind; none where the model has no such layer."""
    experts = moe_layers(arch)
    layer = next((layer for layer in range(arch.layers) if (layer in experts) is moe), None)
    return tuple(
        tensor.name
        for tensor in tensors(arch)
        if layer is not None and tensor.layers is not None and layer in tensor.layers
    )


def _unit(name: str, names: tuple[str, ...], pieces: dict[str, tuple[LocalTensor, ...]]) -> Unit:
    held = tuple([piece for tensor in names for piece in pieces[tensor]])
    numel = trainable = down = 0
    for tensor in held:
        size = tensor.numel
        numel += size
        if tensor.trainable:
            trainable += size
            if ".w2" in tensor.name:
                down += size
    return Unit(name, held, numel, trainable, down)


def _pieces(tensor: Tensor, cut: _Cut) -> tuple[LocalTensor, ...]:
    """The tensor's own piece, with its adapters where it has any."""
    expert, lora = tensor.is_expert, cut.lora
    shape = _cut_shape(tensor, cut, cut.etp if expert else cut.tp)
    copies = ceil_div(tensor.experts, cut.ep) if expert else tensor.experts
    piece = LocalTensor(tensor.name, tensor.role, shape, copies, is_trained(tensor, cut.frozen))
    if lora is None:
        return (piece,)
    quantized = lora.quantized and len(shape) == 2 and tensor.role in QUANTIZED
    base = replace(piece, trainable=False, quantized=quantized)
    return (base, *_adapters(base, lora))


def fused_shapes(unit: Unit) -> tuple[tuple[int, int], ...]:
    """Matrices of a unit's dense weights as Megatron fuses them, each distinct shape once."""
    rows: dict[tuple[str, int], int] = {}
    for tensor in unit.tensors:
        if len(tensor.shape) == 2 and tensor.trainable and not tensor.expert:
            key = (fused_name(tensor.name), tensor.shape[1])
            rows[key] = rows.get(key, 0) + tensor.shape[0]
    return tuple({(count, columns) for (_, columns), count in rows.items()})


def is_trained(tensor: Tensor, frozen: tuple[str, ...]) -> bool:
    """Whether no entry of `frozen` is the tensor's role or the start of its name."""
    return not any(tensor.role == word or tensor.name.startswith(word) for word in frozen)


def is_adapted(name: str, lora: Lora) -> bool:
    """Whether a tensor of that name gets adapters: its last name is a target."""
    return name.rpartition(".")[2] in lora.targets


def _adapters(base: LocalTensor, lora: Lora) -> tuple[LocalTensor, ...]:
    """A (rank, in) and B (out, rank) beside a weight (out, in) (arXiv:2106.09685, section 4.1)."""
    if len(base.shape) != 2 or not is_adapted(base.name, lora):
        return ()
    rows, columns = base.shape
    down = LocalTensor(f"{base.name}.lora_a", base.role, (lora.rank, columns), base.copies)
    up = LocalTensor(f"{base.name}.lora_b", base.role, (rows, lora.rank), base.copies)
    return (down, up)


def _cut_shape(tensor: Tensor, cut: _Cut, degree: int) -> tuple[int, ...]:
    shape = tensor.shape
    vocab = tensor.tp is TpRule.VOCAB
    if tensor.tp is TpRule.REPLICATED or (degree == 1 and not vocab):
        return shape
    if vocab and not cut.split_vocab:
        return shape
    if tensor.tp is TpRule.ROW:
        return (*shape[:-1], ceil_div(shape[-1], degree))
    rows = cut.vocab if vocab else shape[0]
    mine = ceil_div(rows, degree)
    if tensor.tp is TpRule.KV and cut.copies_kv:
        mine = max(mine, cut.arch.head_dim)
    elif tensor.tp is TpRule.KV and ".wv" in tensor.name:
        # Keys and values together are a whole number of fused rows, one of them alone need not be.
        mine = rows // degree
    return (mine, *shape[1:])
