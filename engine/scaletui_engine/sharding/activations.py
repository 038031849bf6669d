"""The activations of a microbatch, named like parameters: (batch, sequence, features) on the stage's ranks.

The batch is that of all data-parallel ranks together. Sources: Megatron-LM, arXiv:1909.08053, section 3
(column output cut by features, row output a sum that is not reduced yet); sequence parallelism,
arXiv:2205.05198, section 4.2; context parallelism's head-tail split, `context.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.memory.load import load_of
from scaletui_engine.model import Role, Tensor, TpRule
from scaletui_engine.sharding.axes import batch_axes, expert_axes
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.placement import PARTIAL, REPLICATE, Placement, head_tail, shard
from scaletui_engine.stages import rank_stages
from scaletui_engine.tensors import tensors
from scaletui_engine.tensors.experts import expert_layers
from scaletui_engine.tensors.feed_forward import dense_layers
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.mesh import Axis
    from scaletui_engine.stages import Stage

_FEATURES: Final = 2
"""The last of (batch, sequence, features), and of (experts, tokens, features)."""


class _Cut(StrEnum):
    """What tensor parallelism does to an activation."""

    STREAM = "stream"
    """Outside the matrices: along the sequence with sequence parallelism, else whole."""
    WHOLE = "whole"
    """What enters a matrix cut by columns."""
    COLUMN = "column"
    """What leaves it: by features."""
    KV = "kv"
    """The same by key/value heads, copied where there are fewer of them than ranks."""
    TERMS = "terms"
    """What leaves a matrix cut by rows, before the sum."""


@dataclass(frozen=True, slots=True)
class Activation:
    """One of them, with what TP does to it."""

    tensor: Tensor
    cut: str

    @property
    def is_expert(self) -> bool:
        """Whether it lies on the experts' mesh: (experts, tokens, features)."""
        return self.tensor.role is Role.EXPERT


def listed(scenario: Scenario, part: Part) -> tuple[Tensor, ...]:
    """What can be asked for by name: the model's parameters, or its activations."""
    return activations(scenario) if part is Part.ACTIVATIONS else tensors(scenario.model.arch)


def activations(scenario: Scenario) -> tuple[Tensor, ...]:
    """In the order of the forward pass; sums that are not reduced yet only where TP leaves any."""
    return tuple(each.tensor for each in _all(load_of(scenario.model.arch, scenario.plan)))


def stage_activations(scenario: Scenario, stage_rank: int) -> tuple[Tensor, ...]:
    """Those of a pipeline rank, equal layers together."""
    stages = rank_stages(scenario.model.arch.layers, scenario.plan)[stage_rank]
    return tuple(part for tensor in activations(scenario) for part in _held(tensor, stages))


def activation_axes(load: Load, tensor: Tensor) -> list[tuple[Axis, Placement]]:
    """The axes of the stage, slowest first, with what each does to an activation."""
    each = next(each for each in _all(load) if each.tensor.name == tensor.name)
    if each.is_expert:
        return _expert_placements(load, each.cut)
    found = [(axis, _placement(axis, each.cut, load)) for axis in batch_axes(load)]
    return [(axis, placement) for axis, placement in found if axis.size > 1] or found[:1]


def _placement(axis: Axis, cut: str, load: Load) -> Placement:
    if axis.name.startswith("dp"):
        return shard(0)
    if axis.name == "cp":
        return head_tail(1)
    if cut == _Cut.STREAM:
        return shard(1) if load.sp > 1 else REPLICATE
    if cut == _Cut.TERMS:
        return PARTIAL
    if cut == _Cut.COLUMN or (cut == _Cut.KV and axis.name == "tp"):
        return shard(_FEATURES)
    return REPLICATE


def _expert_placements(load: Load, cut: str) -> list[tuple[Axis, Placement]]:
    """Tokens at their experts: experts over ep, the tokens of each over the ranks that share it."""
    inner = {_Cut.COLUMN: shard(_FEATURES), _Cut.TERMS: PARTIAL}
    rules = {"ep": shard(0), "etp": inner.get(_Cut(cut), REPLICATE)}
    found = [(axis, rules.get(axis.name, shard(1))) for axis in expert_axes(load)]
    return [(axis, placement) for axis, placement in found if axis.size > 1] or found[:1]


@lru_cache(maxsize=64)
def _all(load: Load) -> tuple[Activation, ...]:
    arch, every = load.arch, range(load.arch.layers)
    layer = "layers.{layer}"
    split = load.plan.runtime.split_vocab
    found = [
        *([_make(load, "tok_embeddings.terms", arch.hidden, _Cut.TERMS)] if split else []),
        _make(load, "tok_embeddings.output", arch.hidden, _Cut.STREAM),
        _make(load, f"{layer}.input", arch.hidden, _Cut.STREAM, every),
        *_attention(load, f"{layer}.attention", every),
        *_feed_forward(load, f"{layer}.feed_forward"),
        *_experts(load, f"{layer}.experts"),
        _make(load, "norm.output", arch.hidden, _Cut.STREAM),
        _make(load, "logits", load.vocab, _Cut.COLUMN if split else _Cut.WHOLE),
    ]
    return tuple(each for each in found if each.cut != _Cut.TERMS or _sums(each, load))


def _sums(each: Activation, load: Load) -> bool:
    return (load.etp if each.is_expert else load.tp) > 1


def _make(load: Load, name: str, features: int, cut: _Cut, layers: range | None = None) -> Activation:
    plan = load.plan
    shape = (plan.micro_batch * plan.axes.dp, plan.seq, features)
    role = Role.ATTENTION if layers is not None else Role.LM_HEAD
    role = Role.EMBEDDING if name.startswith("tok") else role
    return Activation(Tensor(name, shape, role, TpRule.REPLICATED, layers), cut)


def _attention(load: Load, name: str, layers: range) -> list[Activation]:
    arch = load.arch
    whole = [(f"{name}.input", arch.hidden, _Cut.WHOLE)]
    if arch.mla is None:
        kv = arch.kv_heads * arch.head_dim
        inner = [("q", arch.heads * arch.head_dim, _Cut.COLUMN), ("k", kv, _Cut.KV), ("v", kv, _Cut.KV)]
        context = arch.heads * arch.head_dim
    else:
        latent = arch.mla.kv_lora_rank + arch.mla.qk_rope_head_dim
        inner = [("q", arch.heads * arch.mla.qk_head_dim, _Cut.COLUMN), ("kv_latent", latent, _Cut.STREAM)]
        context = arch.heads * arch.mla.v_head_dim
    rows = [(f"{name}.{short}", size, cut) for short, size, cut in inner]
    rows += [(f"{name}.context", context, _Cut.COLUMN), *_leaving(name, arch.hidden)]
    return [_make(load, *row, layers) for row in (*whole, *rows)]


def _leaving(name: str, hidden: int) -> list[tuple[str, int, _Cut]]:
    return [(f"{name}.terms", hidden, _Cut.TERMS), (f"{name}.output", hidden, _Cut.STREAM)]


def _feed_forward(load: Load, name: str) -> list[Activation]:
    arch = load.arch
    rows = [
        (f"{name}.input", arch.hidden, _Cut.WHOLE),
        (f"{name}.inner", arch.ffn, _Cut.COLUMN),
        *_leaving(name, arch.hidden),
    ]
    made = [_make(load, *row, layers) for layers in dense_layers(arch) for row in rows]
    return [replace(each, tensor=replace(each.tensor, role=Role.MLP)) for each in made]


def _experts(load: Load, name: str) -> list[Activation]:
    """Tokens spread evenly over the experts, as they lie between dispatch and combine."""
    arch, plan = load.arch, load.plan
    if arch.moe is None:
        return []
    tokens = plan.micro_batch * plan.axes.dp * plan.seq * arch.moe.topk
    each = ceil_div(tokens, arch.moe.experts)
    rows = (
        (f"{name}.input", arch.hidden, _Cut.WHOLE),
        (f"{name}.inner", arch.moe.ffn, _Cut.COLUMN),
        (f"{name}.output", arch.hidden, _Cut.TERMS if load.etp > 1 else _Cut.WHOLE),
    )
    layers = expert_layers(arch, arch.moe)
    return [
        Activation(
            Tensor(own, (arch.moe.experts, each, features), Role.EXPERT, TpRule.REPLICATED, layers), cut
        )
        for own, features, cut in rows
    ]


def _held(tensor: Tensor, stages: tuple[Stage, ...]) -> tuple[Tensor, ...]:
    if tensor.layers is None:
        first = tensor.role is Role.EMBEDDING
        here = any(stage.embedding if first else stage.head for stage in stages)
        return (tensor,) if here else ()
    layers, step = tensor.layers, tensor.layers.step
    windows = ([layer for layer in stage.layers if layer in layers] for stage in stages)
    return tuple(replace(tensor, layers=range(own[0], own[-1] + 1, step)) for own in windows if own)
