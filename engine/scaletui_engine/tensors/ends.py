"""What lies before the first layer and after the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.model import Role, Tensor, TpRule
from scaletui_engine.tensors.linear import Linear
from scaletui_engine.tensors.norms import norm

if TYPE_CHECKING:
    from scaletui_engine.model import Arch

TOKEN_TABLE = "tok_embeddings"
"""Name of the token table, which a tied output projection shares."""


def embeddings(arch: Arch) -> tuple[Tensor, ...]:
    """The token table (vocab, hidden) and, where positions are learned, their table (positions, hidden)."""
    table = Tensor(TOKEN_TABLE, (arch.vocab, arch.hidden), Role.EMBEDDING, TpRule.VOCAB)
    if arch.learned_pos is None:
        return (table,)
    shape = (arch.learned_pos, arch.hidden)
    return (table, Tensor("pos_embeddings", shape, Role.POSITION, TpRule.REPLICATED))


def head(arch: Arch) -> tuple[Tensor, ...]:
    """The last norm and, unless it is tied, the output projection (vocab, hidden)."""
    last = norm(arch, "norm", None)
    if arch.tie:
        return last
    output = Linear("output", Role.LM_HEAD, TpRule.VOCAB)
    return (*last, *output.tensors(arch.vocab, arch.hidden, arch.lm_head_bias))
