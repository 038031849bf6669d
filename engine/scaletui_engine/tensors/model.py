"""All tensors of a model, in the order in which a module holds them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.tensors.attention import attention
from scaletui_engine.tensors.ends import embeddings, head
from scaletui_engine.tensors.feed_forward import feed_forward
from scaletui_engine.tensors.norms import layer_norm

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Tensor


@lru_cache(maxsize=256)
def tensors(arch: Arch) -> tuple[Tensor, ...]:
    """Every parameter of the model once: tied tables are listed as the token table alone."""
    after = arch.norms_per_layer == 4
    return (
        *embeddings(arch),
        *layer_norm(arch, "attention_norm"),
        *attention(arch),
        *(layer_norm(arch, "post_attention_norm") if after else ()),
        *(layer_norm(arch, "ffn_norm") if arch.norms_per_layer > 1 else ()),
        *feed_forward(arch),
        *(layer_norm(arch, "post_ffn_norm") if after else ()),
        *head(arch),
    )
