"""Templates of what the engine says of a Hugging Face configuration: its refusals, and a model's notes."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_

MODELS: Final = (
    # the file
    N_("not JSON: nested too deeply"),
    N_("not JSON: a number of more than 4300 digits"),
    N_("not JSON: {why}"),
    N_("no configuration of a model: wanted an object with the keys of a config.json"),
    N_("{kind} has no rule here: those with one are {names}"),
    # keys
    N_("{key} is null: wanted {wanted}"),
    N_("{value} is not a name"),
    N_("layer_types names {count} layers, but num_hidden_layers = {layers}"),
    N_("layer_types holds {name}, a kind of layer without a rule here"),
    N_("moe_layers = {layers}: not the last of each {every} layers"),
    N_("mlp_only_layers = {layers}: dense layers have a rule only in front of the others"),
    N_("moe_layer_freq above 1 has no rule here: transformers gives every layer experts"),
    N_("{key}: biases of dense layers without those of experts have no rule here"),
    N_("{key}: biases of the latents have no rule here"),
    N_("{key}: norms of another width than the queries have no rule here"),
    N_("{key}: norms with biases on queries and keys have no rule here"),
    N_("{key}: a tied output projection with a bias has no rule here"),
    N_("{key}: attention to an encoder has no rule here"),
    # a scenario that names a file
    N_("{key} with fields beside it: the file holds them all"),
    N_("{key}, but this text lies in no folder"),
    # notes
    N_("the text model of {name} alone: vision and its like are not counted"),
    N_("without the multi-token prediction layers"),
    N_("left out of the file, so {kind}'s default in transformers: {sizes}"),
)
