"""What a rank computes with rows that another one stores: Megatron's fused queries, keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui_engine.sharding.fused_qkv import qkv_work

if TYPE_CHECKING:
    from scaletui_engine.sharding.megatron_tp import HeadRows
    from scaletui_engine.sharding.parameter_view import ParameterView


def work_texts(view: ParameterView, rank: int) -> tuple[str, ...]:
    """What a rank stores of the fused matrix and what it computes; nothing where that is the same."""
    found = qkv_work(view.scenario, view.named.tensor.name, rank)
    if found is None:
        return ()
    stored, work = found
    heads = " ".join(map(_head, stored))
    queries = f"q{work.queries[0]}" if len(work.queries) == 1 else f"q{work.queries[0]}-{work.queries[-1]}"
    keys = " ".join(f"k{group} v{group}" for group in work.groups)
    return (tr("stores {heads}, computes {queries} with {keys}", heads=heads, queries=queries, keys=keys),)


def _head(rows: HeadRows) -> str:
    """A head, with its rows where a rank has a part of it."""
    return rows.head if rows.whole else f"{rows.head}[{rows.rows[0]}:{rows.rows[1]}]"
