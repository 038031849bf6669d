"""What tensor, context, pipeline and expert parallelism send for one layer or boundary.

Sources: Megatron-LM, arXiv:1909.08053 and arXiv:2205.05198 (4 all-reduces; 4 all-gathers and 4 reduce-
scatters with SP); Megatron-LM core/tensor_parallel/layers.py (the input is gathered again for the weight
gradient: 6 all-gathers); Narayanan et al., arXiv:2104.04473 (messages times v with interleaving); torch 2.13,
_context_parallel/_attention.py (keys and values travel cp - 1 hops, their gradients cp).
"""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.sharding.traffic.call import Call

_AR, _AG, _RS = Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER
_A2A, _SEND = Collective.ALL_TO_ALL, Collective.SEND


@dataclass(frozen=True, slots=True)
class TpCounts:
    """Collectives of one transformer layer and one microbatch."""

    forward: dict[Collective, int]
    backward: dict[Collective, int]

    def of(self, op: Collective) -> int:
        """Forward and backward together."""
        return self.forward.get(op, 0) + self.backward.get(op, 0)


def tp_counts(*, sequence_parallel: bool, megatron: bool) -> TpCounts:
    """The textbook's 4 + 4, or Megatron's re-gathered inputs."""
    if not sequence_parallel:
        return TpCounts({_AR: 2}, {_AR: 2})
    return TpCounts({_AG: 2, _RS: 2}, {_AG: 4 if megatron else 2, _RS: 2})


def dtensor_tp_counts(*, gated: bool = True) -> TpCounts:
    """Plain DTensor TP, no PrepareModuleInput: every column-parallel weight reduces its input's gradient."""
    return TpCounts({_AR: 2}, {_AR: 5 if gated else 4})


def stream_bytes(batch: int, seq: int, hidden: int, item: int) -> int:
    """b s h: the residual stream of one microbatch."""
    return batch * seq * hidden * item


def ring_attention(kv_bytes: int, cp: int) -> tuple[Call, ...]:
    """One layer and microbatch of ring attention; `kv_bytes` are the keys and values of one rank."""
    hops = cp - 1
    return (
        Call(_SEND, kv_bytes, cp, hops, "kv_forward"),
        Call(_SEND, kv_bytes, cp, hops, "kv_backward"),
        Call(_SEND, kv_bytes, cp, cp, "kv_gradients"),
    )


def gathered_attention(kv_bytes: int, cp: int) -> tuple[Call, ...]:
    """Keys and values gathered whole (Llama 3), their gradients scattered."""
    return (
        Call(_AG, kv_bytes * cp, cp, 1, "kv_forward"),
        Call(_AG, kv_bytes * cp, cp, 1, "kv_backward"),
        Call(_RS, kv_bytes * cp, cp, 1, "kv_gradients"),
    )


def ulysses_attention(q_bytes: int, kv_bytes: int, cp: int) -> tuple[Call, ...]:
    """Sequence and heads change places: q, k, v and the output, forward and backward (arXiv:2309.14509)."""
    return (
        Call(_A2A, q_bytes, cp, 4, "attention_queries"),
        Call(_A2A, kv_bytes, cp, 2, "attention_kv"),
    )


@dataclass(frozen=True, slots=True)
class PipelineSends:
    """Messages of a pipeline rank in one step."""

    forward: int
    backward: int

    @property
    def total(self) -> int:
        """Both directions."""
        return self.forward + self.backward


def pipeline_sends(pp: int, microbatches: int, chunks: int, rank: int) -> PipelineSends:
    """Every chunk but the model's last sends activations on, every one but its first gradients back."""
    if pp == 1:
        return PipelineSends(0, 0)
    last, first = rank == pp - 1, rank == 0
    return PipelineSends(microbatches * (chunks - last), microbatches * (chunks - first))


def expert_exchange(tokens: int, topk: int, hidden_bytes: int, ep: int) -> Call:
    """Dispatch, combine and the backward of both: one MoE layer, one microbatch, tokens spread evenly."""
    return Call(_A2A, tokens * topk * hidden_bytes, ep, 4, "tokens")
