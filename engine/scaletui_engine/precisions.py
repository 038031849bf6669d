"""The recipes: bytes a parameter for weights, gradients, master weights and moments, each with its source.

`bf16-mixed` and `fp16-mixed` mean what the strategy's own framework does with "mixed precision": under
torch's DDP and FSDP the weights are held in fp32 and are their own master; under ZeRO (DeepSpeed) they
are held in 16 bits with an fp32 master beside them. `held_precision` resolves that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.plan import Strategy
from scaletui_engine.precision import Precision

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan

_PLAYBOOK: Final = "HF Ultra-Scale Playbook, mixed-precision and FP8 tables"


def _recipe(id: str, parts: tuple[int, int, int, int, int, int], source: str) -> Precision:
    """`parts`: weights, compute, gradients, reduce, master, moment."""
    return Precision(id, *parts, source=source)


_RECIPES: Final = (
    _recipe("bf16-mixed", (4, 2, 4, 4, 0, 4), "torch FSDP MixedPrecisionPolicy: fp32 shards, bf16 compute, fp32 reduce"),
    _recipe("fp16-mixed", (4, 2, 4, 4, 0, 4), "torch FSDP/autocast with fp16 compute and a loss scaler"),
    _recipe("fp32", (4, 4, 4, 4, 0, 4), "everything in float32"),
    _recipe("bf16-pure", (2, 2, 2, 2, 0, 2), "torchtitan training.dtype=bfloat16: weights, gradients and moments in bf16"),
    _recipe("jax-book", (2, 2, 0, 0, 0, 4), "JAX scaling book, training: bf16 weights and fp32 moments, gradients not counted"),
    _recipe("lesson", (2, 2, 2, 2, 0, 4), "the lesson's memory calculator: 2 + 2 + 8, no master weights"),
    _recipe("bf16-fp32-adam", (2, 2, 2, 2, 0, 4), "bf16 weights and gradients, fp32 moments, no master weights"),
    _recipe("fp32-bf16-adam", (4, 4, 4, 4, 0, 2), "fp32 weights and gradients, bf16 moments (torchtitan)"),
    _recipe("zero", (2, 2, 2, 2, 4, 4), "ZeRO, arXiv:1910.02054, section 3.1: 2 + 2 + 12"),
    _recipe("megatron", (2, 2, 4, 4, 4, 4), "Megatron-LM theoretical_memory_usage.py: 18, or 6 + 12/dp"),
    _recipe("nanotron", (2, 2, 6, 4, 4, 4), f"nanotron: bf16 gradients beside their fp32 sum ({_PLAYBOOK})"),
    _recipe("fp8-te", (4, 1, 4, 4, 0, 4), f"Transformer Engine: FP8 matrix products over fp32 weights ({_PLAYBOOK})"),
    _recipe("fp8-deepseek-v3", (1, 1, 6, 2, 4, 2), f"DeepSeek-V3, arXiv:2412.19437, section 3.3 ({_PLAYBOOK}: 4+4+1+2+2+2)"),
    replace(
        _recipe("fp8-lm", (1, 1, 3, 1, 2, 1), f"FP8-LM O3, arXiv:2310.18313 ({_PLAYBOOK})"), second_moment=2
    ),
    _recipe("fp8-nanotron", (1, 1, 5, 1, 2, 1), f"nanotron's FP8 ({_PLAYBOOK})"),
)  # fmt: skip
_BY_ID: Final = {recipe.id: recipe for recipe in _RECIPES}
_BY_STRATEGY: Final = ("bf16-mixed", "fp16-mixed")
_DEEPSPEED: Final = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)


def precision_ids() -> tuple[str, ...]:
    """Ids of all recipes, the default first."""
    return tuple(_BY_ID)


def precision(id: str) -> Precision:
    """The recipe of that id. Raises UnknownNameError."""
    try:
        return _BY_ID[id]
    except KeyError:
        raise UnknownNameError("precision", id, _BY_ID) from None


def held_precision(plan: Plan) -> Precision:
    """The bytes that the plan's strategy really holds under its recipe. Raises UnknownNameError."""
    recipe = precision(plan.precision)
    if recipe.id in _BY_STRATEGY and plan.strategy in _DEEPSPEED:
        return replace(_BY_ID["zero"], id=recipe.id)
    return recipe
