"""A transformer's numbers, read from the names and shapes of its parameters and checked against them all."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.model import Arch, Norm, QkNorm
from scaletui_engine.tensors import tensors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Shape = tuple[int, ...]

_LAYER: Final = re.compile(r"(?:^|\.)(\d+)\.(.+)$")
_ATTENTION: Final = re.compile(r"(?:attn|attention)(?!_?norm|_?layer_?norm)")
_QK: Final = re.compile(r"(?:q|k)_?norm")
_HEAD_SIZES: Final = (128, 64, 96, 80, 256, 32)
"""Usual sizes of a head, the most usual first: shapes tell the product of heads and size alone."""
LEFT_OVER: Final = 1_000
"""Parameters that no architecture knows may be one part in so many."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read, and what of the parameters it leaves out."""

    arch: Arch
    left_over: int
    """Elements of parameters that are no part of it."""
    model: str = ""
    """Id of the published model whose shapes they are; empty for any other."""


class UnreadableError(Exception):
    """The parameters are those of no architecture that this engine knows; `str()` says where it ends."""


def read_architecture(parameters: Sequence[tuple[str, Shape]]) -> Read:
    """The architecture of parameters by name and whole shape: a published one where all shapes are its own.

    Raises UnreadableError.
    """
    shapes = Counter(shape for _, shape in parameters)
    for name in model_ids():
        arch = load_model(name).arch
        if _shapes(arch) == shapes:
            return Read(arch, 0, name)
    return _inferred(parameters)


def _shapes(arch: Arch) -> Counter[Shape]:
    found: Counter[Shape] = Counter()
    for tensor in tensors(arch):
        found[tensor.shape] += tensor.copies
    return found


def _inferred(parameters: Sequence[tuple[str, Shape]]) -> Read:
    layers, outside = _split(parameters)
    if not layers:
        raise UnreadableError("no numbered layers")
    first = layers[min(layers)]
    hidden, ends = _ends(outside, first)
    heads, ffn = _attention(first, hidden), _mlp(first, hidden)
    norm, norms = _norms(first, hidden)
    arch = Arch(
        layers=len(layers), hidden=hidden, vocab=max(shape[0] for shape in ends.values()),
        tie=len(ends) == 1, heads=heads.queries // heads.size, kv_heads=heads.keys // heads.size,
        head_dim=heads.size, qkv_bias=heads.input_bias, o_bias=heads.output_bias, qk_norm=heads.norm,
        ffn=ffn.width, gated=ffn.gated, mlp_bias=ffn.bias, norm=norm, norms_per_layer=norms,
        learned_pos=_positions(outside, hidden, ends),
    )  # fmt: skip
    return _checked(arch, parameters)


def _split(parameters: Iterable[tuple[str, Shape]]) -> tuple[dict[int, dict[str, Shape]], dict[str, Shape]]:
    """Parameters of each layer by the rest of their names, and those outside of the layers."""
    layers: dict[int, dict[str, Shape]] = {}
    outside: dict[str, Shape] = {}
    for name, shape in parameters:
        match = _LAYER.search(name)
        if match is None:
            outside[name] = shape
        else:
            layers.setdefault(int(match[1]), {})[match[2]] = shape
    return layers, outside


def _ends(outside: dict[str, Shape], layer: dict[str, Shape]) -> tuple[int, dict[str, Shape]]:
    """Hidden size, and the one or two tables with a row for each token."""
    widths = Counter(shape[0] for shape in layer.values() if len(shape) == 1)
    tables = {name: shape for name, shape in outside.items() if len(shape) == 2}
    if not tables:
        raise UnreadableError("no table of tokens outside the layers")
    tokens = max(shape[0] for shape in tables.values())
    hidden = widths.most_common(1)[0][0] if widths else min(shape[1] for shape in tables.values())
    ends: dict[str, Shape] = {n: s for n, s in tables.items() if s == (tokens, hidden)}
    if not 1 <= len(ends) <= 2:
        raise UnreadableError(f"{len(ends)} tables of {tokens} x {hidden}")
    return hidden, ends


def _positions(outside: dict[str, Shape], hidden: int, ends: dict[str, Shape]) -> int | None:
    rows = [s[0] for name, s in outside.items() if len(s) == 2 and s[1] == hidden and name not in ends]
    return rows[0] if rows else None


@dataclass(frozen=True, slots=True)
class _Heads:
    """Widths of queries, and of keys or values; the size of a head; what else attention learns."""

    queries: int
    keys: int
    size: int
    input_bias: bool
    output_bias: bool
    norm: QkNorm | None


@dataclass(frozen=True, slots=True)
class _Inner:
    """The feed-forward block."""

    width: int
    gated: bool
    bias: bool


def _attention(layer: dict[str, Shape], hidden: int) -> _Heads:
    """Queries, keys and values have matrices of their own or one for all three; the last one leads out."""
    found = {name: shape for name, shape in layer.items() if _ATTENTION.search(name)}
    matrices = [shape for shape in found.values() if len(shape) == 2]
    into = sorted(shape[0] for shape in matrices if shape[1] == hidden)
    if len(matrices) == 4 and len(into) >= 3:
        queries, keys = _widths(matrices, hidden, into)
    elif len(matrices) == 2:
        queries = min(matrices, key=lambda shape: (shape[0] != hidden, shape[1]))[1]
        keys = (max(into) - queries) // 2
    else:
        raise UnreadableError(f"{len(matrices)} matrices of attention")
    vectors = {name: shape[0] for name, shape in found.items() if len(shape) == 1}
    gains = [width for name, width in vectors.items() if "norm" in name and width != hidden]
    has_norm = any(_QK.search(name) for name in vectors)
    biases = sum("norm" not in name for name in vectors)
    size = min(gains) if gains and min(gains) < keys else _head_size(queries, keys)
    norm = None if not gains and not has_norm else QkNorm.PER_HEAD if size in gains else QkNorm.FULL
    several = len(matrices) - 1
    return _Heads(queries, keys, size, biases >= several, biases in (1, several + 1) and several > 0, norm)


def _widths(matrices: Sequence[Shape], hidden: int, into: list[int]) -> tuple[int, int]:
    """Of queries and keys: the output's input is as wide as the queries; keys and values are alike."""
    out = [shape[1] for shape in matrices if shape[0] == hidden]
    queries = max(width for width in out if width in into)
    return queries, into[0] if into[0] == into[1] else queries


def _head_size(queries: int, keys: int) -> int:
    return next((size for size in _HEAD_SIZES if queries % size == 0 == keys % size), gcd(queries, keys))


def _mlp(layer: dict[str, Shape], hidden: int) -> _Inner:
    """The inner width, and whether there are two projections to it, side by side or in one."""
    found = {n: s for n, s in layer.items() if len(s) == 2 and not _ATTENTION.search(n)}
    into = sorted(shape[0] for shape in found.values() if shape[1] == hidden)
    out = [shape[1] for shape in found.values() if shape[0] == hidden]
    inner = next((width for width in out if width in into or 2 * width in into), None)
    if inner is None or len(found) not in (2, 3):
        raise UnreadableError(f"{len(found)} matrices outside attention")
    vectors = [s for n, s in layer.items() if len(s) == 1 and not _ATTENTION.search(n)]
    bias = any(shape in ((inner,), (2 * inner,)) for shape in vectors if shape != (hidden,))
    return _Inner(inner, len(found) == 3 or 2 * inner in into, bias)


def _norms(layer: dict[str, Shape], hidden: int) -> tuple[Norm, int]:
    """Gains as wide as the hidden size that stand by themselves; with biases they are layer norms."""
    vectors = [n for n, s in layer.items() if s == (hidden,) and "norm" in n.lower().replace("ln_", "norm")]
    biases = sum(name.endswith("bias") for name in vectors)
    return Norm.LAYERNORM if biases else Norm.RMSNORM, max(len(vectors) - biases, 1)


def _checked(arch: Arch, parameters: Sequence[tuple[str, Shape]]) -> Read:
    """The architecture, where its tensors add up to the job's; side by side or in one is all the same."""
    held = sum(prod(shape) for _, shape in parameters)
    known = sum(tensor.total for tensor in tensors(arch))
    layers = {match[1] for name, _ in parameters if (match := _LAYER.search(name))}
    if len(layers) != arch.layers or not 0 <= held - known <= held // LEFT_OVER:
        raise UnreadableError(f"{held} elements, {known} are those of a transformer of {arch.layers} layers")
    return Read(arch, held - known)
