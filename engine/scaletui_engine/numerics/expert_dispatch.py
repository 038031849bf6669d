"""Expert parallelism on numpy ranks: tokens go to their experts' ranks and back, summed by their gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.model import Arch, Moe
from scaletui_engine.numerics.autograd import Var, relu
from scaletui_engine.numerics.memory_states import layer_weights
from scaletui_engine.numerics.outcome import Held, Outcome, compare
from scaletui_engine.plan import Axes
from scaletui_engine.sharding.experts import experts_of, rank_of_expert

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

EXPERTS, TOPK, TOKENS, WIDTH, INNER = 8, 2, 6, 10, 12
"""Experts, experts a token visits, tokens of a rank, features, an expert's inner width."""
_ARCH: Final = Arch(
    1, WIDTH, 1, 1, WIDTH, INNER, vocab=WIDTH, gated=False, moe=Moe(experts=EXPERTS, topk=TOPK, ffn=INNER)
)
"""The same experts as the memory engine knows them."""


@dataclass(frozen=True, slots=True)
class _Routed:
    """One visit of a token to an expert."""

    source: int
    token: int
    expert: int
    gate: float


def expert_parallel(ranks: int) -> Outcome:
    """Outputs, and gradients of every expert's weights. Raises DivisibilityError."""
    experts_of(EXPERTS, ranks, 0)
    dice = np.random.default_rng(7)
    x = dice.normal(size=(ranks, TOKENS, WIDTH))
    up, down = dice.normal(size=(EXPERTS, WIDTH, INNER)), dice.normal(size=(EXPERTS, INNER, WIDTH))
    visits = _route(x, dice.normal(size=(WIDTH, EXPERTS)))
    expected = _alone(x, (up, down), visits)
    inbox = [
        [visit for visit in visits if rank_of_expert(EXPERTS, ranks, visit.expert) == r] for r in range(ranks)
    ]
    out, gradients = np.zeros_like(x), (np.zeros_like(up), np.zeros_like(down))
    for rank in range(ranks):
        for expert in experts_of(EXPERTS, ranks, rank):
            mine = [visit for visit in inbox[rank] if visit.expert == expert]
            _visit(x, (up[expert], down[expert]), mine, (out, gradients[0][expert], gradients[1][expert]))
    counted = sum(up[expert].size + down[expert].size for expert in experts_of(EXPERTS, ranks, 0))
    predicted = EXPERTS // ranks * 2 * WIDTH * INNER
    held = (Held("weights", counted, predicted, layer_weights(_ARCH, Axes(ep=ranks, dp_shard=ranks))),)
    sent = max(
        sum(
            2 * 2 * WIDTH
            for visit in visits
            if visit.source == rank and rank_of_expert(EXPERTS, ranks, visit.expert) != rank
        )
        for rank in range(ranks)
    )
    return Outcome("ep", ranks, *compare(expected, [out, *gradients]), held, sent)


def _route(x: Array, router: Array) -> list[_Routed]:
    """The top-k experts of every token, gates by softmax over those."""
    found: list[_Routed] = []
    for source, tokens in enumerate(x @ router):
        for token, logits in enumerate(tokens):
            chosen = np.argsort(-logits)[:TOPK]
            gates = np.exp(logits[chosen] - logits[chosen].max())
            pairs = zip(chosen, gates / gates.sum(), strict=True)
            found += [_Routed(source, token, int(expert), float(gate)) for expert, gate in pairs]
    return found


def _visit(
    x: Array, weights: tuple[Array, Array], visits: list[_Routed], into: tuple[Array, Array, Array]
) -> None:
    """One expert works on all tokens sent to it, sends them back, and gets gradient 1 for each output."""
    if not visits:
        return
    out, up_grad, down_grad = into
    up, down = Var(weights[0]), Var(weights[1])
    tokens = Var(np.stack([x[visit.source, visit.token] for visit in visits]))
    gates = np.array([[visit.gate] for visit in visits])
    result = relu(tokens @ up) @ down
    result.backward(np.broadcast_to(gates, result.shape))
    for visit, row in zip(visits, result.data * gates, strict=True):
        out[visit.source, visit.token] += row
    up_grad += up.grad
    down_grad += down.grad


def _alone(x: Array, weights: tuple[Array, Array], visits: list[_Routed]) -> list[Array]:
    """Token by token on one device."""
    out, up_grad, down_grad = np.zeros_like(x), np.zeros_like(weights[0]), np.zeros_like(weights[1])
    for visit in visits:
        token = x[visit.source, visit.token]
        inner = np.maximum(token @ weights[0][visit.expert], 0)
        out[visit.source, visit.token] += visit.gate * (inner @ weights[1][visit.expert])
        back = visit.gate * weights[1][visit.expert].sum(axis=1)
        down_grad[visit.expert] += visit.gate * inner[:, None]
        up_grad[visit.expert] += np.outer(token, back * (inner > 0))
    return [out, up_grad, down_grad]
