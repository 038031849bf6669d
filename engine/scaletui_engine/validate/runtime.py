"""The runtime's switches mean something: numbers in range, modules that exist."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import DivisibilityError, ScenarioError, UnknownNameError, ValueRangeError, brief
from scaletui_engine.plan import Strategy
from scaletui_engine.validate.nearest import nearest_divisor
from scaletui_engine.validate.numbers import check_number

if TYPE_CHECKING:
    from scaletui_engine.runtime import Runtime
    from scaletui_engine.scenario import Scenario

RECOMPUTE_MODULES: Final = (
    "core_attn", "mla_up_proj", "mlp", "moe_act", "layernorm", "moe", "shared_experts", "latent_norm",
)  # fmt: skip
"""What Megatron-LM's --recompute-modules knows (megatron/core/transformer/transformer_config.py), and the
norms of latents."""
FLOAT8_SAVED: Final = ("mlp", "moe", "shared_experts")
"""Blocks whose activation's input can be kept in 8 bits."""
_COUNTS: Final = (
    "loss_chunks",
    "recompute_every",
    "bucket_bytes",
    "zero_bucket",
    "zero_live",
    "zero_prefetch",
    "zero_hpz",
)
_OPTIONAL: Final = ("vocab_multiple", "etp", "float8_tile")
_FROM_ZERO: Final = ("prefetch",)
_FACTORS: Final = ("capacity_factor", "imbalance")
_MOST: Final = 1 << 50
_MOST_FACTOR: Final = 1 << 16
"""All tokens to one of as many experts as a layer may have."""


def check_runtime(scenario: Scenario) -> None:
    """Raises ValueRangeError, UnknownNameError."""
    runtime = scenario.plan.runtime
    for name in _COUNTS:
        check_number(f"runtime.{name}", getattr(runtime, name), _MOST)
    for name in _OPTIONAL:
        if getattr(runtime, name) is not None:
            check_number(f"runtime.{name}", getattr(runtime, name), 1 << 20)
    for name in _FROM_ZERO:
        check_number(f"runtime.{name}", getattr(runtime, name), 1 << 20, least=0)
    if runtime.recompute_layers is not None:
        check_number("runtime.recompute_layers", runtime.recompute_layers, 10_000, least=0)
    for name in _FACTORS:
        _check_factor(f"runtime.{name}", getattr(runtime, name))
    _check_second_copy(scenario)
    _check_kept(runtime)


def _check_kept(runtime: Runtime) -> None:
    """What is computed again, and what is kept in few bits."""
    for module in runtime.recompute_modules:
        if module not in RECOMPUTE_MODULES:
            raise UnknownNameError("recompute module", module, RECOMPUTE_MODULES)
    for block in runtime.float8_saved:
        if block not in FLOAT8_SAVED:
            raise UnknownNameError("block", block, FLOAT8_SAVED)
    if runtime.attention_output_bits is not None:
        check_number("runtime.attention_output_bits", runtime.attention_output_bits, 32, least=4)


def _check_second_copy(scenario: Scenario) -> None:
    """ZeRO++'s hpZ (arXiv:2306.10209, section 3.2) belongs to ZeRO-3 and cuts the data-parallel group."""
    plan = scenario.plan
    group, ranks = plan.runtime.zero_hpz, plan.axes.dp * plan.axes.cp
    if group == 1:
        return
    if plan.strategy is not Strategy.ZERO3:
        raise ScenarioError(
            f"runtime.zero_hpz = {group} with {plan.strategy}: a second copy goes with zero3", "zero_hpz 1"
        )
    if ranks % group:
        raise DivisibilityError(
            f"dp x cp = {ranks} / zero_hpz {group} = {ranks / group:.4g}, not a whole number",
            f"zero_hpz {nearest_divisor(ranks, group)}",
        )


def _check_factor(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueRangeError(f"{name} = {brief(value)} is not a positive number")
    if value > _MOST_FACTOR:
        raise ValueRangeError(f"{name} = {brief(value)} > {_MOST_FACTOR}", f"{name} {_MOST_FACTOR}")
