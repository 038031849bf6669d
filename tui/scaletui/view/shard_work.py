"""What a rank has beside its slice, or computes with rows that another one stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui_engine.sharding.context import HeadTail
from scaletui_engine.sharding.fused_qkv import qkv_work
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.tensor_map import Flat

if TYPE_CHECKING:
    from scaletui_engine.sharding.megatron_tp import HeadRows
    from scaletui_engine.sharding.parameter_view import ParameterView


def work_texts(view: ParameterView, rank: int) -> tuple[str, ...]:
    """What a rank stores of the fused matrix and what it computes; nothing where that is the same.

    Of a second copy, whether there is one.
    """
    if view.part is Part.SECONDARY and view.map.flat is Flat.NONE:
        return (tr("small enough to stay whole: it has no second copy"),)
    found = qkv_work(view.scenario, view.named.tensor.name, rank)
    if found is None:
        return common_texts(view)
    stored, work = found
    heads = " ".join(map(_head, stored))
    queries = f"q{work.queries[0]}" if len(work.queries) == 1 else f"q{work.queries[0]}-{work.queries[-1]}"
    keys = " ".join(f"k{group} v{group}" for group in work.groups)
    return (tr("stores {heads}, computes {queries} with {keys}", heads=heads, queries=queries, keys=keys),)


def common_texts(view: ParameterView) -> tuple[str, ...]:
    """What is true of every rank that has the tensor."""
    if view.map.stays:
        return (tr("small: a whole copy stays beside the slice until the optimizer's step"),)
    return _causal_texts(view)


def _causal_texts(view: ParameterView) -> tuple[str, ...]:
    """Attention's work under context parallelism: even head-tail, uneven where each rank took a run."""
    plan = view.scenario.plan
    if plan.axes.cp == 1 or view.part is not Part.ACTIVATIONS or ".attention." not in view.named.tensor.name:
        return ()
    split = HeadTail(plan.seq, plan.axes.cp)
    last = split.contiguous_work(plan.axes.cp - 1) / split.causal_work(0)
    return (tr("causal work is even; cut in runs, {n} times on the last rank", n=f"{last:.2f}"),)


def _head(rows: HeadRows) -> str:
    """A head, with its rows where a rank has a part of it."""
    return rows.head if rows.whole else f"{rows.head}[{rows.rows[0]}:{rows.rows[1]}]"
