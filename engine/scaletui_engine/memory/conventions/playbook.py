"""The memory widget of the Ultra-Scale Playbook (huggingface.co/spaces/nanotron/ultrascale-playbook).

`predict_memory` of its page, in its own accounting: learned positions and two matrices of 4h in the count
of parameters whatever the activation, no grouped queries, no pipeline, weights that tensor parallelism leaves
whole, and with sequence parallelism attention scores that it leaves whole as well. To be compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.memory.conventions.zero import sharded_parts
from scaletui_engine.plan import Recompute

GATED_COPIES: Final = 4
"""Gate, up, the activated gate and their product."""
PLAIN_COPIES: Final = 2


@dataclass(frozen=True, slots=True)
class Sliders:
    """What the widget asks for; `ffn` counts in the activations only."""

    layers: int
    hidden: int
    ffn: int
    heads: int
    vocab: int
    seq: int
    micro_batch: int
    gated: bool = True
    mixed: bool = True
    tp: int = 1
    dp: int = 1
    zero: int = 0
    sequence_parallel: bool = False
    recompute: Recompute = Recompute.NONE


@dataclass(frozen=True, slots=True)
class Bars:
    """What it draws, bytes: the parts of one layer are those without full recompute."""

    attention: float
    mlp: float
    norms: float
    tail: float
    """Input dropout, final norm, output projection and fp32 logits."""
    activations: float
    parameters: int
    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        """Everything on one GPU."""
        return self.activations + self.weights + self.gradients + self.optimizer


def bars(sliders: Sliders) -> Bars:
    """The widget's picture of one GPU."""
    s, item = sliders, _item(sliders)
    tokens = s.seq * s.micro_batch * s.hidden
    whole = s.tp if s.sequence_parallel else 1
    attention, mlp = _attention(s, tokens / whole), _mlp(s, tokens / whole)
    norms = 2 * item * tokens / whole
    tail = ((2 * item + 1) * tokens + 4 * s.seq * s.micro_batch * s.vocab) / whole
    layer = item * tokens if s.recompute is Recompute.FULL else attention + mlp + norms
    count = parameters(s)
    weights, gradients, optimizer = _states(s, count)
    return Bars(attention, mlp, norms, tail, layer * s.layers + tail, count, weights, gradients, optimizer)


def parameters(sliders: Sliders) -> int:
    """GPT-2's count, with learned positions and biases."""
    h = sliders.hidden
    return h * (sliders.vocab + sliders.seq) + sliders.layers * (12 * h * h + 13 * h) + 2 * h


def _item(sliders: Sliders) -> int:
    return 2 if sliders.mixed else 4


def _attention(sliders: Sliders, tokens: float) -> float:
    s, item = sliders, _item(sliders)
    kept = (item + 1) * tokens + 4 * item * s.seq * s.micro_batch * s.hidden / s.tp
    if s.recompute is Recompute.SELECTIVE:
        return kept
    scores = (2 * item + 1) * s.heads * s.seq**2 * s.micro_batch
    return kept + (scores if s.sequence_parallel else scores / s.tp)


def _mlp(sliders: Sliders, tokens: float) -> float:
    s, item = sliders, _item(sliders)
    copies = GATED_COPIES if s.gated else PLAIN_COPIES
    return (item + 1) * tokens + copies * item * s.seq * s.micro_batch * s.ffn / s.tp


def _states(sliders: Sliders, count: int) -> tuple[float, float, float]:
    """(weights, gradients, optimizer): fp32 weights beside two moments where the compute is 16 bits."""
    item = _item(sliders)
    optimizer = 12 if sliders.mixed else 8
    sizes = (item * count, item * count, optimizer * count)
    return sharded_parts(sizes, sliders.zero, sliders.dp)
