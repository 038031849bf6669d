"""What the words of a published record mean to the engine: optimizer, types, recompute, schedule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scoring.memory_fields import Config, MissingFieldError, flag, text, whole

from scaletui_engine.plan import Recompute
from scaletui_engine.runtime import CpExchange, Framework, Lora, OptimizerLoop
from scaletui_engine.schedule_rules import schedule_names

if TYPE_CHECKING:
    from collections.abc import Iterable

OPTIMIZERS = (
    ("adafactor", "adafactor"), ("lion", "lion"), ("muon", "muon"), ("momentum", "momentum"), ("sgd", "sgd"),
    ("adam", "adamw"),
)  # fmt: skip
"""A word of an optimizer's name and the engine's id, the first that is found counts."""
MODULES = ("core_attn", "mla_up_proj", "mlp", "moe_act", "layernorm", "moe", "shared_experts")
SAME_MODULES = {"core_attention": "core_attn", "moe_shared_expert": "shared_experts", "mlp_recompute": "mlp"}
TARGETS = {
    "q_proj": "wq", "k_proj": "wk", "v_proj": "wv", "o_proj": "wo", "output_proj": "wo",
    "gate_proj": "w1", "up_proj": "w3", "down_proj": "w2",
}  # fmt: skip
"""Hugging Face's and torchtune's names of the tensors that adapters stand beside."""
ROLLED = {"interleaved": "interleaved-1f1b", "interleaved1f1b": "Interleaved1F1B", "zbv": "ZBVZeroBubble"}


def techniques_of(config: Config) -> str:
    """The list of techniques as one text, in lower case."""
    listed = config.get("techniques")
    parts = listed if isinstance(listed, (list, tuple)) else (listed or "",)
    return " ".join(str(part).lower() for part in parts)


def optimizer_of(config: Config) -> str:
    """The engine's id. Raises MissingFieldError for an optimizer that it does not know."""
    said = text(config, "optimizer")
    words = f"{said} {techniques_of(config)}"
    adam = "adam" in words or not any(word in words for word, _ in OPTIMIZERS)
    if adam and re.search(r"(?<!\d)8-?bit", words):
        return "adam8bit"
    if adam and re.search(r"(?<!\d)4-?bit", words):
        return "adam4bit"
    found = next((name for word, name in OPTIMIZERS if word in said and "mini" not in said), None)
    if said and found is None:
        raise MissingFieldError(f"missing field optimizer (no state is known of {said!r})")
    return found or "adamw"


def loop_of(config: Config, habit: str = "", *, traced: bool = False) -> OptimizerLoop:
    """foreach unless the record, its framework, its time or its optimizer says otherwise."""
    words = f"{text(config, 'optimizer_impl') or habit} {text(config, 'optimizer')}"
    if re.search(r"for[-_ ]?loop|single", words):
        return OptimizerLoop.SINGLE
    habit = traced or "torchtune" in text(config, "framework")
    fused = "fused" in words or (habit and "foreach" not in words)
    return OptimizerLoop.FUSED if fused else OptimizerLoop.FOREACH


def bits_of(words: str) -> int | None:
    """Bits of the first floating-point type in the words; None where there is none."""
    match = re.search(r"(?:fp|float|bf|bfloat)(8|16|32)|\bhalf\b", words)
    if match is None:
        return None
    return 16 if match[1] is None else int(match[1])


def torch_precision(config: Config) -> str:
    """The recipe of a job of torch's own. Raises MissingFieldError where the weights' type is not said."""
    said, compute = text(config, "param_dtype"), text(config, "compute_dtype")
    weights = 32 if re.search(r"\bmixed\b|\bamp\b|autocast", said) else bits_of(said)
    lora = lora_of(config)
    if weights is None and lora is not None and lora.quantized:
        weights = 16
    words = text(config, "optimizer")
    if weights == 32:
        if "bf16 states" in words:
            return "fp32-bf16-adam"
        if bits_of(compute) == 32:
            return "fp32"
        return "fp16-mixed" if re.match(r"fp16|float16|half", compute) else "bf16-mixed"
    if weights == 16:
        if "fp32 states" in words:
            return "bf16-fp32-adam"
        return "bf16-reduce-fp32" if bits_of(text(config, "reduce_dtype")) == 32 else "bf16-pure"
    raise MissingFieldError("missing field param_dtype")


def megatron_precision(config: Config, recipe: str) -> str:
    """Megatron's recipe by its main gradients: fp32 ones, or the 16-bit ones that are reduced."""
    if bits_of(text(config, "param_dtype")) == 32:
        return "fp32"
    return "zero" if bits_of(text(config, "main_grad_dtype", "main_grad")) == 16 else recipe


def modules_of(config: Config) -> tuple[str, ...]:
    """What Megatron's selective recompute names, in its own field or in place of a mode."""
    given = _parts(text(config, "recompute_modules").strip("[]"))
    named = tuple(part for part in _parts(text(config, "recompute", "ac")) if part in MODULES)
    return tuple(part for part in given or named if part != "none")


def _parts(words: str) -> tuple[str, ...]:
    parts = re.split(r"[+,\s'\"\[\]()]+", words.replace("-", "_"))
    return tuple(SAME_MODULES.get(part, part) for part in parts if part)


def every_of(config: Config) -> int:
    """k where one of every k layers is recomputed: torchtitan's "selective 2", or "every 2nd layer"."""
    words = text(config, "ac", "recompute")
    match = re.search(r"every (\d+)\w* (?:layer|block)|selective\W+(?:layer\W+)?(\d+)\b", words)
    return int(match[1] or match[2]) if match else whole(config, "recompute_every", "ac_every") or 1


def recompute_of(config: Config, framework: Framework) -> Recompute:
    """The mode. Raises MissingFieldError where torch's job says none, or one that is not modelled."""
    words = text(config, "ac", "recompute")
    techniques = techniques_of(config)
    if flag(config, "grad_checkpointing") or "checkpointing" in techniques or every_of(config) > 1:
        return Recompute.FULL
    said = words or config.get("ac") is False or techniques or framework is not Framework.TORCH
    if (
        said
        and re.match(r"(none|no|off|disabled|false|without|\[\]|)(\W|$)", words)
        and not modules_of(config)
    ):
        return Recompute.NONE
    if re.search(r"\bfull|^(on|true|yes|uniform|block)\b|every (layer|block)", words):
        return Recompute.FULL
    if "select" in words or "sac" in words or "default" in words or modules_of(config):
        return Recompute.SELECTIVE
    raise MissingFieldError("missing field ac" + (f" (no policy is called {words!r})" if words else ""))


def schedule_of(config: Config, chunks: int, framework: Framework) -> str:
    """The engine's name of a schedule. Raises MissingFieldError for one that it does not have."""
    said = text(config, "schedule")
    plain = re.sub(r"[^a-z0-9]", "", said.partition("(")[0])
    if plain in ("", "1f1b", "interleaved1f1b", "interleaved", "vpp", "none"):
        return "interleaved-1f1b" if "interleaved" in plain or chunks > 1 else "1f1b"
    torch = framework is Framework.TORCH
    names = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in _ordered(schedule_names(), torch=torch)}
    found = names.get(ROLLED.get(plain, plain).lower())
    if found is None:
        raise MissingFieldError(f"missing field schedule (none is called {said!r})")
    return found


def _ordered(names: Iterable[str], *, torch: bool) -> list[str]:
    """The names that count last: PyTorch's own spelling for its own jobs, the papers' for others."""
    return sorted(names, key=lambda name: (name.lower() != name) is torch)


def exchange_of(config: Config) -> CpExchange:
    """How context parallelism exchanges keys; a ring unless the record says otherwise."""
    words = re.sub(r"[^a-z0-9]", "", text(config, "cp_comm"))
    if words in ("a2a", "alltoall", "ulysses"):
        return CpExchange.ALL_TO_ALL
    return CpExchange.ALL_GATHER if words in ("allgather", "ag") else CpExchange.RING


def lora_of(config: Config) -> Lora | None:
    """Adapters with their rank and targets; None for a full fine-tune. Raises MissingFieldError for DoRA."""
    words = f"{text(config, 'method')} {techniques_of(config)}"
    if "dora" in words:
        raise MissingFieldError("missing field method (DoRA's magnitudes are not modelled)")
    if "lora" not in words:
        return None
    rank = whole(config, "lora_rank", "rank", "lora_r", "r") or 8
    return Lora(rank=rank, targets=_targets(config), quantized="qlora" in words)


def _targets(config: Config) -> tuple[str, ...]:
    words = text(config, "lora_targets", "target_modules", "lora_attn_modules")
    if "all" in words:
        return tuple(dict.fromkeys(TARGETS.values()))
    parts = [part for part in re.split(r"[+,\s'\"\[\]()]+", words) if part]
    return tuple(TARGETS.get(part, part) for part in parts) or Lora().targets


def dropout_of(config: Config, *, default: bool) -> bool:
    """Whether any dropout is on, from a share like 0.1 or a switch."""
    value = config.get("dropout")
    if value is None:
        return default
    match = re.match(r"\s*(\d*\.?\d+)", str(value))
    return float(match[1]) > 0 if match else flag(config, "dropout")
