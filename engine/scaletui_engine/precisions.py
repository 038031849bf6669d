"""The recipes: bytes a parameter for weights, gradients, master weights and moments, each with its source.

`bf16-mixed` and `fp16-mixed` mean what the plan's framework does with "mixed precision": torch's DDP and
FSDP hold weights in fp32, which are their own master; DeepSpeed holds 16-bit weights and gradients with
an fp32 master beside them; Megatron does so too but sums bf16 gradients in fp32. `held_precision`
resolves that, and leaves out the 16-bit gradients of DeepSeek-V3's recipe where they accumulate straight into
fp32; every other recipe is the same under every framework.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.precision import Precision
from scaletui_engine.runtime import Framework

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan

_PLAYBOOK: Final = "HF Ultra-Scale Playbook, tables of mixed precision and FP8"
_TITAN: Final = "pytorch/torchtitan"

_BYTES: Final = {
    # id: weights, compute, gradients, reduce, master, first moment, second moment
    "bf16-mixed": (4, 2, 4, 4, 0, 4, 4),
    "fp16-mixed": (4, 2, 4, 4, 0, 4, 4),
    "fp32": (4, 4, 4, 4, 0, 4, 4),
    "bf16-pure": (2, 2, 2, 2, 0, 2, 2),
    "bf16-reduce-fp32": (2, 2, 2, 4, 0, 2, 2),
    "jax-book": (2, 2, 0, 0, 0, 4, 4),
    "lesson": (2, 2, 2, 2, 0, 4, 4),
    "bf16-fp32-adam": (2, 2, 2, 2, 0, 4, 4),
    "fp32-bf16-adam": (4, 2, 4, 4, 0, 2, 2),
    "zero": (2, 2, 2, 2, 4, 4, 4),
    "megatron": (2, 2, 4, 4, 4, 4, 4),
    "megatron-bf16": (2, 2, 2, 2, 4, 2, 2),
    "nanotron": (2, 2, 6, 4, 4, 4, 4),
    "fp8-te": (4, 1, 4, 4, 0, 4, 4),
    "fp8-deepseek-v3": (1, 1, 6, 2, 4, 2, 2),
    "fp8-lm": (1, 1, 3, 1, 2, 1, 2),
    "fp8-nanotron": (1, 1, 5, 1, 2, 1, 1),
}
_SOURCES: Final = {
    "bf16-mixed": "torch FSDP2 MixedPrecisionPolicy: fp32 shards, bf16 compute, fp32 reduce, no bf16 copy",
    "fp16-mixed": "the same with fp16 compute and a loss scaler",
    "fp32": "everything in float32",
    "bf16-pure": f"{_TITAN}, training.dtype = bfloat16: weights, gradients and moments",
    "bf16-reduce-fp32": f"{_TITAN}, the same with its default mixed_precision_reduce = float32",
    "jax-book": "JAX scaling book, training chapter: bf16 weights, fp32 moments, gradients not counted",
    "lesson": "the lesson's memory calculator: 2 + 2 + 8, no master weights",
    "bf16-fp32-adam": "bf16 weights and gradients, fp32 moments, no master weights",
    "fp32-bf16-adam": f"{_TITAN}: fp32 weights and gradients, bf16 compute and moments",
    "zero": "ZeRO, arXiv:1910.02054, section 3.1: 2 + 2 + 12",
    "megatron": "Megatron-LM theoretical_memory_usage.py: 18, with the distributed optimizer 6 + 12/dp",
    "megatron-bf16": "Megatron Core's precision-aware optimizer: bf16 gradients and moments, fp32 master",
    "nanotron": f"nanotron: bf16 gradients and their fp32 sum ({_PLAYBOOK})",
    "fp8-te": f"Transformer Engine: FP8 matrix products over fp32 weights ({_PLAYBOOK})",
    "fp8-deepseek-v3": f"DeepSeek-V3, arXiv:2412.19437, section 3.3: 4 + 4 + 1 + 2 + 2 + 2 ({_PLAYBOOK})",
    "fp8-lm": f"FP8-LM O3, arXiv:2310.18313 ({_PLAYBOOK})",
    "fp8-nanotron": f"nanotron's FP8 ({_PLAYBOOK})",
}
_BY_FRAMEWORK: Final = {
    ("bf16-mixed", Framework.MEGATRON): "megatron",
    ("fp16-mixed", Framework.MEGATRON): "zero",
    ("bf16-mixed", Framework.MEGATRON_LEGACY): "megatron",
    ("fp16-mixed", Framework.MEGATRON_LEGACY): "zero",
    ("bf16-mixed", Framework.DEEPSPEED): "zero",
    ("fp16-mixed", Framework.DEEPSPEED): "zero",
}

_FUSED: Final = {"fp8-deepseek-v3": 4}
"""Bytes of a gradient where the weight gradient's kernel adds to the fp32 sum: the 16-bit one never exists.

DeepSeek's own kernel does (DeepGEMM, `wgrad_gemm_fp8_fp8_fp32_nt`: "results will be accumulated into the
output tensor").
"""


def precision_ids() -> tuple[str, ...]:
    """Ids of all recipes, the default first."""
    return tuple(_BYTES)


def precision(name: str) -> Precision:
    """The recipe of that id. Raises UnknownNameError."""
    if name not in _BYTES:
        raise UnknownNameError("precision", name, _BYTES)
    weights, compute, gradients, reduce, master, first, second = _BYTES[name]
    return Precision(name, weights, compute, gradients, reduce, master, first, _SOURCES[name], second)


def held_precision(plan: Plan) -> Precision:
    """The bytes that the plan's framework holds under its recipe, under the plan's name for it."""
    recipe = precision(plan.precision)
    if recipe.id in _FUSED and plan.framework is Framework.MEGATRON and plan.runtime.gradient_fusion:
        return replace(recipe, gradients=_FUSED[recipe.id])
    held = _BY_FRAMEWORK.get((recipe.id, plan.framework))
    return recipe if held is None else replace(precision(held), id=recipe.id)
