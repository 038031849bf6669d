"""A transformer block forward and backward under tensor and sequence parallelism, beside one device.

Layout: Megatron-LM, arXiv:1909.08053, section 3: query, key, value and the first projection are cut by
columns, the output and the second projection by rows; heads stay whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.errors import DivisibilityError
from scaletui_engine.model import Arch
from scaletui_engine.numerics.autograd import Var, relu, rms_norm, softmax
from scaletui_engine.numerics.memory_states import layer_weights
from scaletui_engine.numerics.outcome import Held, Outcome, compare
from scaletui_engine.numerics.parallel import (
    copy_to_ranks,
    gather_sequence,
    reduce_from_ranks,
    scatter_sequence,
)
from scaletui_engine.numerics.wire_log import WireLog
from scaletui_engine.plan import Axes
from scaletui_engine.validate.nearest import nearest_divisor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

SEQ, HIDDEN, HEADS, FFN = 16, 24, 8, 48
_ARCH: Final = Arch(1, HIDDEN, HEADS, HEADS, HIDDEN // HEADS, FFN, vocab=HIDDEN, gated=False)
"""The same block as the memory engine knows it."""
COLUMNS = ("wq", "wk", "wv", "w1")
ROWS = ("wo", "w2")
GAINS = ("attention_norm", "ffn_norm")


@dataclass(frozen=True, slots=True)
class _Edges:
    """What happens where activations enter and leave the cut matrices."""

    enter: Callable[[Var, WireLog], Var]
    leave: Callable[[Var, WireLog], Var]


PLAIN = _Edges(copy_to_ranks, reduce_from_ranks)
SEQUENCE = _Edges(gather_sequence, scatter_sequence)


def block_weights(seed: int = 0) -> dict[str, Array]:
    """Weights of one block, (in, out)."""
    dice = np.random.default_rng(seed)
    shapes = dict.fromkeys(("wq", "wk", "wv", "wo"), (HIDDEN, HIDDEN))
    shapes |= {"w1": (HIDDEN, FFN), "w2": (FFN, HIDDEN)}
    found = {name: dice.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
    return found | {name: 1 + dice.normal(size=(HIDDEN,)) / 10 for name in GAINS}


def cut(whole: dict[str, Array], ranks: int) -> dict[str, Var]:
    """The same with a leading rank axis; gains are copied."""
    found: dict[str, Var] = {}
    for name, array in whole.items():
        axis = 1 if name in COLUMNS else 0
        pieces = [array[None, :]] * ranks if name in GAINS else np.split(array, ranks, axis=axis)
        found[name] = Var(np.stack(pieces))
    return found


def joined(name: str, pieces: Array) -> Array:
    """A cut matrix, or its gradient, put together again."""
    if name in GAINS:
        first: Array = pieces[0, 0]
        return first
    return np.concatenate(list(pieces), axis=1 if name in COLUMNS else 0)


def block(x: Var, held: dict[str, Var], edges: _Edges, log: WireLog) -> Var:
    """x + attention(norm(x)), then x + mlp(norm(x)); the leading axis is the rank."""
    inside = edges.enter(rms_norm(x, held["attention_norm"]), log)
    x = x + edges.leave(_attention(inside, held) @ held["wo"], log)
    inside = edges.enter(rms_norm(x, held["ffn_norm"]), log)
    return x + edges.leave(relu(inside @ held["w1"]) @ held["w2"], log)


def _attention(x: Var, held: dict[str, Var]) -> Var:
    ranks, seq, _ = x.shape
    width = HIDDEN // HEADS
    q, k, v = ((x @ held[name]).reshaped(ranks, seq, -1, width).swapped(1, 2) for name in ("wq", "wk", "wv"))
    scores = (q @ k.swapped(2, 3)).scaled(width**-0.5)
    mask = np.triu(np.full((seq, seq), -np.inf), 1)
    return (softmax(scores, mask) @ v).swapped(1, 2).reshaped(ranks, seq, -1)


def tensor_parallel(ranks: int) -> Outcome:
    """Two all-reduces forward and two backward."""
    return _run("tp", ranks, sequence=False)


def sequence_parallel(ranks: int) -> Outcome:
    """Two all-gathers and two reduce-scatters each way; gradients of the gains are summed at the end."""
    return _run("sp", ranks, sequence=True)


def _run(name: str, ranks: int, *, sequence: bool) -> Outcome:
    check_heads(ranks)
    whole, x = block_weights(), np.random.default_rng(1).normal(size=(SEQ, HIDDEN))
    expected = _gradients(whole, x, 1, WireLog(1), sequence=False)
    log = WireLog(ranks)
    found = _gradients(whole, x, ranks, log, sequence=sequence)
    matrices = sum(array.size for key, array in whole.items() if key not in GAINS)
    gains = 2 * HIDDEN
    counted = sum(var.data.size for var in cut(whole, ranks).values()) // ranks
    predicted = matrices // ranks + gains
    held = (Held("weights", counted, predicted, layer_weights(_ARCH, Axes(tp=ranks))),)
    stream = SEQ * HIDDEN
    ops = (Collective.ALL_GATHER, Collective.REDUCE_SCATTER) if sequence else (Collective.ALL_REDUCE,)
    formula = sum(4 * sent_bytes(op, stream, ranks) for op in ops)
    formula += sent_bytes(Collective.ALL_REDUCE, gains, ranks) if sequence else 0
    errors = compare(list(expected.values()), list(found.values()))
    return Outcome(name, ranks, *errors, held, log.sent, formula if ranks > 1 else 0)


def _gradients(
    whole: dict[str, Array], x: Array, ranks: int, log: WireLog, *, sequence: bool
) -> dict[str, Array]:
    """Output, gradient of the input and of every weight, put together from the ranks."""
    held = cut(whole, ranks)
    given = Var(x.reshape(ranks, SEQ // ranks, HIDDEN) if sequence else np.broadcast_to(x, (ranks, *x.shape)))
    out = block(given, held, SEQUENCE if sequence else PLAIN, log)
    out.backward(np.sin(out.data))
    grads = {name: var.grad for name, var in held.items()}
    if sequence:
        log.record(Collective.ALL_REDUCE, 2 * HIDDEN)
        for name in GAINS:
            grads[name] = np.broadcast_to(grads[name].sum(axis=0), grads[name].shape)
    found = {name: joined(name, grad) for name, grad in grads.items()}
    ends = {"output": out.data, "input": given.grad}
    return found | {name: data.reshape(SEQ, HIDDEN) if sequence else data[0] for name, data in ends.items()}


def check_heads(ranks: int) -> None:
    """Raises DivisibilityError unless the ranks divide heads and sequence."""
    if ranks < 1 or HEADS % ranks:
        raise DivisibilityError(
            f"{HEADS} heads / tp {ranks} = {HEADS / max(ranks, 1):.4g}, not a whole number",
            f"tp {nearest_divisor(HEADS, ranks)}",
        )
