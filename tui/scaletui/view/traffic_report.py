"""The traffic of a step as a page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.view.row import Row, Span
from scaletui.view.rule import wrapped
from scaletui.view.table import Column, table_rows
from scaletui_engine.sharding.notes import mesh_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.pen import Pen
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.traffic.call import Call
    from scaletui_engine.sharding.traffic.table import Traffic, TrafficRow

WHAT: Final = {
    "gradients": N_("gradients"),
    "gradient_shards": N_("slices of gradients"),
    "weights": N_("weights"),
    "weights_forward": N_("weights, forward"),
    "weights_backward": N_("weights, backward"),
    "weights_small": N_("small weights"),
    "layers": N_("activations of the layers"),
    "embedding": N_("embedding"),
    "head": N_("output projection"),
    "loss": N_("loss"),
    "norm_gradients": N_("gradients of norms"),
    "kv_forward": N_("keys and values, forward"),
    "kv_backward": N_("keys and values, backward"),
    "kv_gradients": N_("gradients of keys and values"),
    "attention_queries": N_("queries and outputs"),
    "attention_kv": N_("keys and values"),
    "activations": N_("activations"),
    "activation_gradients": N_("gradients of activations"),
    "tied_embedding": N_("gradients of the tied table"),
    "tokens": N_("tokens to experts and back"),
    "qkv": N_("fused queries, keys, values"),
    "qkv_gradients": N_("gradients of fused queries, keys, values"),
    "gradient_norm": N_("gradient norm"),
    "loss_value": N_("loss value"),
}
"""Message id of a call -> what is sent."""


def traffic_rows(scenario: Scenario, found: Traffic, width: int, pen: Pen) -> tuple[Row, ...]:
    """The rank, then the paper's table and the framework's."""
    cluster = scenario.cluster
    where = (
        f"{scenario.model.id}  {cluster.gpus} {pen.glyphs.times} {cluster.gpu.id}  {scenario.plan.strategy}"
    )
    stage = tr("one step of a rank of stage {stage}; bytes that one GPU sends", stage=found.stage_rank)
    implemented = tr("as {framework} sends it", framework=found.framework)
    return (
        _line(where),
        _line(stage),
        (),
        *_table(tr("as papers count it"), found.paper, width, pen),
        (),
        *_table(implemented, found.implemented, width, pen),
        *(
            row
            for note in mesh_notes(scenario.model.arch, scenario.plan)
            for row in ((), *wrapped(explain(note), width, indent=""))
        ),
    )


def _table(title: str, rows: Sequence[TrafficRow], width: int, pen: Pen) -> tuple[Row, ...]:
    sent = pen.numbers.size(sum(row.call.sent for row in rows))
    head = _line(f"{title}: {sent}")
    if not rows:
        return (head, _line(tr("nothing is sent")))
    columns = (
        Column(tr("axis")),
        Column(tr("collective")),
        Column(tr("what"), rank=1),
        Column(tr("ranks"), numeric=True, rank=2),
        Column(tr("count"), numeric=True),
        Column(tr("payload"), numeric=True, rank=4),
        Column(tr("sent"), numeric=True),
        Column(tr("link")),
        Column(tr("time"), numeric=True, rank=3),
    )
    return (head, *table_rows(columns, [_cells(row, pen) for row in rows], width, pen.glyphs.ellipsis))


def _cells(row: TrafficRow, pen: Pen) -> tuple[Span, ...]:
    number, call = pen.numbers, row.call
    return (
        Span(row.group),
        Span(call.op.value),
        Span(what_text(call)),
        Span(number.integer(call.ranks)),
        Span(number.integer(call.collectives)),
        Span(number.size(call.bytes)),
        Span(number.size(call.sent)),
        Span(tr("network") if row.network else tr("inside")),
        Span("-" if row.seconds is None else number.seconds(row.seconds)),
    )


def what_text(call: Call) -> str:
    """What is sent, and that it is the root unit's, whose rows are beside the layers'."""
    what = tr(WHAT[call.what])
    return tr("{what}, root", what=what) if call.root else what


def _line(text: str) -> Row:
    return (Span(text),)
