"""The smallest tensor-parallel pair: a matrix cut by columns, one cut by rows, one all-reduce each way."""

from __future__ import annotations

import numpy as np

from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.numerics.autograd import Var, relu
from scaletui_engine.numerics.outcome import Held, Outcome, compare
from scaletui_engine.numerics.parallel import copy_to_ranks, reduce_from_ranks
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.sharding.megatron_tp import linear_rows

INNER = 48


def column_row(ranks: int) -> Outcome:
    """relu(x A) B with A cut by columns and B by rows. Raises DivisibilityError."""
    linear_rows(INNER, ranks, "inner features")
    dice = np.random.default_rng(3)
    x, a, b = dice.normal(size=(6, 10)), dice.normal(size=(10, INNER)), dice.normal(size=(INNER, 10))
    log = WireLog(ranks)
    first, second = Var(np.stack(np.split(a, ranks, axis=1))), Var(np.stack(np.split(b, ranks, axis=0)))
    given = Var(np.broadcast_to(x, (ranks, *x.shape)))
    out = reduce_from_ranks(relu(copy_to_ranks(given, log) @ first) @ second, log)
    out.backward()
    alone, whole_a, whole_b = Var(x), Var(a), Var(b)
    expected = relu(alone @ whole_a) @ whole_b
    expected.backward()
    found = [
        out.data[0],
        given.grad[0],
        np.concatenate(list(first.grad), axis=1),
        np.concatenate(list(second.grad)),
    ]
    wanted = [expected.data, alone.grad, whole_a.grad, whole_b.grad]
    counted = first.data[0].size + second.data[0].size
    held = (Held("weights", counted, (a.size + b.size) // ranks),)
    formula = 2 * sent_bytes(Collective.ALL_REDUCE, x.size, ranks)
    return Outcome("column-row", ranks, *compare(wanted, found), held, log.sent, formula)
