"""Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (arXiv:2205.05198).

Equations 1 to 5 and table 2: a GPT with dropout, GELU, 4h MLP and unfused attention, 16-bit activations, no
embedding and no output. Symbols as there: s sequence, b micro-batch, h hidden, a heads, t tensor
parallelism, p pipeline ranks, L layers, v virtual stages a rank.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.plan import Recompute

STATE_BYTES = 18
"""Bytes a parameter: 16-bit weights, fp32 gradients, fp32 weights and two moments (figure 1)."""


@dataclass(frozen=True, slots=True)
class PaperModel:
    """A model and its split, in the paper's terms."""

    layers: int
    hidden: int
    heads: int
    seq: int
    micro_batch: int
    tp: int = 1
    pp: int = 1
    virtual: int = 1


@dataclass(frozen=True, slots=True)
class Technique:
    """What the paper varies beside tensor parallelism."""

    sequence_parallel: bool = False
    recompute: Recompute = Recompute.NONE


def layer_bytes(model: PaperModel, technique: Technique) -> float:
    """Activations of one layer and one microbatch (table 2)."""
    s, b, h, t = model.seq, model.micro_batch, model.hidden, model.tp
    if technique.recompute is Recompute.FULL:
        return 2 * s * b * h
    scores = 0.0 if technique.recompute is Recompute.SELECTIVE else 5 * model.heads * s / (h * t)
    if technique.sequence_parallel:
        return s * b * h * (34 / t + scores)
    return s * b * h * (10 + 24 / t + scores)


def first_stage_bytes(model: PaperModel, technique: Technique) -> float:
    """Activations of the first stage under 1F1B, interleaved with virtual stages (section 4.2.3)."""
    factor = 1 + (model.pp - 1) / (model.pp * model.virtual) if model.virtual > 1 else 1
    return layer_bytes(model, technique) * model.layers * factor


def state_bytes(model: PaperModel) -> float:
    """Parameters and optimizer state of one GPU: 12 h^2 parameters a layer (figure 1)."""
    return STATE_BYTES * 12 * model.hidden**2 * model.layers / (model.tp * model.pp)
