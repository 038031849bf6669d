"""A Llama-like model, small enough for two CPU cores, with sizes that few numbers of ranks divide evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Sizes:
    """What decides the model's shapes."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    sequence: int
    batch: int


ON_CPU = Sizes(layers=4, hidden=126, heads=6, kv_heads=2, ffn=341, vocab=1_001, sequence=64, batch=4)
ON_GPU = Sizes(layers=12, hidden=1_530, heads=15, kv_heads=5, ffn=4_093, vocab=32_003, sequence=512, batch=4)


class Attention(nn.Module):
    """Causal attention with fewer key/value heads than query heads, and rotary positions."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.hidden // sizes.heads
        self.wq = nn.Linear(sizes.hidden, sizes.hidden, bias=False)
        self.wk = nn.Linear(sizes.hidden, sizes.kv_heads * width, bias=False)
        self.wv = nn.Linear(sizes.hidden, sizes.kv_heads * width, bias=False)
        self.wo = nn.Linear(sizes.hidden, sizes.hidden, bias=False)

    def forward(self, x: Tensor, rotation: Tensor) -> Tensor:
        """x and the result: (batch, sequence, hidden)."""
        batch, length, hidden = x.shape
        width = hidden // self.sizes.heads
        query, key, value = (
            linear(x).view(batch, length, -1, width).transpose(1, 2) for linear in (self.wq, self.wk, self.wv)
        )
        query, key = rotated(query, rotation), rotated(key, rotation)
        repeat = self.sizes.heads // self.sizes.kv_heads
        key, value = (tensor.repeat_interleave(repeat, dim=1) for tensor in (key, value))
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        result: Tensor = self.wo(mixed.transpose(1, 2).reshape(batch, length, hidden))
        return result


class Layer(nn.Module):
    """One decoder layer: attention and a gated MLP, each behind a norm."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(sizes.hidden)
        self.attention = Attention(sizes)
        self.mlp_norm = nn.RMSNorm(sizes.hidden)
        self.w1 = nn.Linear(sizes.hidden, sizes.ffn, bias=False)
        self.w2 = nn.Linear(sizes.ffn, sizes.hidden, bias=False)
        self.w3 = nn.Linear(sizes.hidden, sizes.ffn, bias=False)

    def forward(self, x: Tensor, rotation: Tensor) -> Tensor:
        """x and the result: (batch, sequence, hidden)."""
        x = x + self.attention(self.attention_norm(x), rotation)
        inner = self.mlp_norm(x)
        gated: Tensor = self.w2(functional.silu(self.w1(inner)) * self.w3(inner))
        return x + gated


class Llama(nn.Module):
    """Embedding, layers, norm, head, and a temperature: one element, which one rank alone holds."""

    rotation: Tensor

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sizes.vocab, sizes.hidden)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = nn.RMSNorm(sizes.hidden)
        self.head = nn.Linear(sizes.hidden, sizes.vocab, bias=False)
        self.temperature = nn.Parameter(torch.ones(1))
        self.register_buffer(
            "rotation", angles(sizes.sequence, sizes.hidden // sizes.heads), persistent=False
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: (batch, sequence); the result: (batch, sequence, vocab)."""
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, self.rotation[: tokens.shape[1]])
        logits: Tensor = self.head(self.norm(x)) * self.temperature
        return logits


def angles(length: int, width: int) -> Tensor:
    """Cosines and sines, (length, width / 2, 2), of rotary embeddings (Su et al., arXiv:2104.09864)."""
    frequencies = 10_000.0 ** (-torch.arange(0, width - width % 2, 2) / width)
    turns = torch.outer(torch.arange(length).float(), frequencies)
    return torch.stack((turns.cos(), turns.sin()), dim=-1)


def rotated(x: Tensor, rotation: Tensor) -> Tensor:
    """x, (batch, heads, length, width), with each pair of channels turned by its position's angle."""
    pairs = rotation.shape[1]
    cosine, sine = rotation[..., 0].to(x.dtype), rotation[..., 1].to(x.dtype)
    even, odd, rest = x[..., : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2], x[..., 2 * pairs :]
    turned = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), dim=-1)
    return torch.cat((turned.flatten(-2), rest), dim=-1)
