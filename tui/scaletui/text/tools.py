"""Other estimators of memory, and what makes them differ from the budget."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_, tr

SENTENCES: Final = {
    "tool.accelerate": N_("accelerate estimate-memory"),
    "tool.zero_paper": N_("the ZeRO paper"),
    "tool.deepspeed_zero2": N_("DeepSpeed's ZeRO-2 estimator"),
    "tool.deepspeed_zero3": N_("DeepSpeed's ZeRO-3 estimator"),
    "why.largest_of_four": N_("it prints the largest of its four entries, not their sum"),
    "why.not_sharded": N_("it shards nothing"),
    "why.fp32_gradients": N_("it counts 18 bytes a parameter, an fp32 copy of the gradients among them"),
    "why.no_gradients": N_("it counts no gradients on the GPU"),
    "why.no_offload": N_("it offloads nothing"),
    "why.largest_layer": N_("it adds 4 bytes for each parameter of the largest layer"),
    "why.model_axes": N_("it knows no tensor, pipeline or expert parallelism"),
    "why.frozen": N_("it trains what the plan freezes"),
    "why.recipe": N_("it counts 16 bytes a parameter with Adam, not this recipe and optimizer"),
    "why.padding": N_("it pads no shard"),
}
"""Tools by "tool.", reasons by "why."."""


def tool_text(message_id: str) -> str:
    """The words of a message id in the language in force."""
    return tr(SENTENCES[message_id])
