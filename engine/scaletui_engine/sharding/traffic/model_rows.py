"""The collectives of tensor, context, pipeline and expert parallelism in one step of a pipeline rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.model import Role
from scaletui_engine.runtime import CpExchange, Framework
from scaletui_engine.schedule_rules import Placement, schedule_rule
from scaletui_engine.sharding.fused_qkv import fused_of
from scaletui_engine.sharding.rank_view import stage_parameters
from scaletui_engine.sharding.traffic import model_volume
from scaletui_engine.sharding.traffic.call import Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.sharding.traffic.data_rows import Placed
    from scaletui_engine.sharding.traffic.step import Step

_AR, _AG, _RS = Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER
_FP32 = 4
_LOSS_REDUCTIONS = 3
"""Maximum, sum of exponentials and target logit of a vocabulary-parallel cross entropy."""


def model_rows(step: Step, *, implemented: bool) -> Iterator[Placed]:
    """Every axis that has more than one rank."""
    axes = step.scenario.plan.axes
    if axes.tp > 1:
        yield from _tensor(step, implemented=implemented)
    if axes.cp > 1:
        yield from _context(step, implemented=implemented)
    if axes.pp > 1:
        yield from _pipeline(step)
    if axes.ep > 1 and step.moe_layers:
        tokens = step.load.tokens // step.load.sp
        moe = step.load.arch.moe
        assert moe is not None
        call = model_volume.expert_exchange(tokens, moe.topk, step.load.arch.hidden * step.load.item, axes.ep)
        times = (call.count + 2 * step.recomputes) * step.moe_layers * step.microbatches
        yield "ep", Call(call.op, call.payload, call.ranks, times, call.what)


def _tensor(step: Step, *, implemented: bool) -> Iterator[Placed]:
    tp, sp = step.scenario.plan.axes.tp, step.load.sp > 1
    counts = _layer_counts(step, implemented=implemented)
    split = step.layers - (step.moe_layers if step.load.etp == 1 else 0)
    for op in (_AR, _AG, _RS):
        forward = counts.forward.get(op, 0) * (1 + step.recomputes)
        each = forward + counts.backward.get(op, 0)
        calls = (each * split + each // 2 * (step.layers - split)) * step.microbatches
        if calls:
            yield "tp", Call(op, step.stream, tp, calls, "layers")
    if implemented:
        yield from _fused_qkv(step)
    yield from _ends(step, tp, sp=sp, implemented=implemented)
    if sp:
        yield from _norms(step, tp)


def _fused_qkv(step: Step) -> Iterator[Placed]:
    """Megatron with fewer key/value heads than ranks: the fused rows are cut evenly, so all are gathered."""
    fused = fused_of(step.load)
    if fused is None:
        return
    payload = step.load.tokens * fused.rows * step.load.item
    times = step.layers * step.microbatches
    yield "tp", Call(_AG, payload, fused.tp, times * (1 + step.recomputes), "qkv")
    yield "tp", Call(_RS, payload, fused.tp, times, "qkv_gradients")


def _layer_counts(step: Step, *, implemented: bool) -> model_volume.TpCounts:
    sp = step.load.sp > 1
    plain = step.load.framework is Framework.TORCH and not sp
    if implemented and plain:
        return model_volume.dtensor_tp_counts(gated=step.load.arch.gated)
    return model_volume.tp_counts(sequence_parallel=sp, megatron=implemented and step.load.megatron)


def _ends(step: Step, tp: int, *, sp: bool, implemented: bool) -> Iterator[Placed]:
    """Embedding, output projection and loss, where the vocabulary is split."""
    if not step.scenario.plan.runtime.split_vocab:
        return
    times = step.microbatches
    if step.embedding:
        ops = (_RS, _AG) if sp else (_AR,)
        yield from (("tp", Call(op, step.stream, tp, times, "embedding")) for op in ops)
    if not step.head:
        return
    if sp:
        gathers = 2 if implemented and step.load.megatron else 1
        yield "tp", Call(_AG, step.stream, tp, times * gathers, "head")
        yield "tp", Call(_RS, step.stream, tp, times, "head")
    else:
        yield "tp", Call(_AR, step.stream, tp, times, "head")
    yield "tp", Call(_AR, step.load.tokens * _FP32, tp, times * _LOSS_REDUCTIONS, "loss")


def _norms(step: Step, tp: int) -> Iterator[Placed]:
    """Gradients of norms that saw a part of the sequence are summed over tp.

    Megatron does so once a step, all of them together; DTensor reduces each before FSDP does, every time.
    """
    held = [tensor for tensor in stage_parameters(step.scenario, step.stage_rank) if tensor.role is Role.NORM]
    numel, copies = sum(tensor.total for tensor in held), sum(tensor.copies for tensor in held)
    if not numel:
        return
    if step.load.framework is Framework.TORCH:
        payload = numel * step.load.precision.compute
        yield "tp", Call(_AR, payload, tp, step.microbatches, "norm_gradients", copies)
    else:
        yield "tp", Call(_AR, numel * step.load.precision.reduce, tp, 1, "norm_gradients")


def _context(step: Step, *, implemented: bool) -> Iterator[Placed]:
    load, cp = step.load, step.scenario.plan.axes.cp
    arch, exchange = load.arch, step.scenario.plan.runtime.cp_exchange
    heads, kv = max(arch.heads // load.tp, 1), max(arch.kv_heads // load.tp, 1)
    one = load.tokens * arch.head_dim * load.item
    if exchange is CpExchange.ALL_TO_ALL:
        calls = model_volume.ulysses_attention(heads * one, 2 * kv * one, cp)
    elif exchange is CpExchange.ALL_GATHER:
        calls = model_volume.gathered_attention(2 * kv * one, cp)
    else:
        calls = model_volume.ring_attention(2 * kv * one, cp)
    for call in calls:
        count = call.count
        if exchange is CpExchange.RING and call.what == "kv_gradients" and not implemented:
            count -= 1
        if step.recomputes and call.what == "kv_forward":
            count *= 2
        times = count * step.layers * step.microbatches
        yield "cp", Call(call.op, call.payload, call.ranks, times, call.what)


def _pipeline(step: Step) -> Iterator[Placed]:
    """A stage sends activations on and gradients back, unless its neighbour lies on the same rank."""
    plan, times = step.scenario.plan, step.microbatches
    both = schedule_rule(plan.schedule).placement is Placement.BIDIRECTIONAL
    last = plan.axes.pp - 1 if both else plan.stages - 1
    held = {stage.index for stage in step.stages}
    # Two copies of the model, each fed half the microbatches: one goes up the ranks, the other down.
    local = set[int]() if both else held
    forward = sum(1 for index in held if index < last and index + 1 not in local)
    backward = sum(1 for index in held if index > 0 and index - 1 not in local)
    times = times // 2 if both else times
    message = step.stream // step.load.sp
    for count, what in ((forward, "activations"), (backward, "activation_gradients")):
        if count:
            yield "pp", Call(Collective.SEND, message, plan.axes.pp, count * times, what)
    if step.load.arch.tie and step.embedding != step.head:
        rows = step.load.vocab // step.load.tp
        payload = rows * step.load.arch.hidden * step.load.precision.reduce
        yield "embedding", Call(_AR, payload, 2, 1, "tied_embedding")
