"""The sentences behind the engine's message ids and names: the engine returns ids, people read these."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_, tr

SENTENCES: Final = {
    # parts of memory
    "weights": N_("weights"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer"),
    "master_weights": N_("master weights"),
    "activations": N_("activations"),
    "loss": N_("loss"),
    "unsharded": N_("unsharded"),
    "buffers": N_("buffers"),
    "overhead": N_("overhead"),
    # actions of a pipeline
    "forward": N_("forward"),
    "backward": N_("backward"),
    "input_grad": N_("input gradient"),
    "weight_grad": N_("weight gradient"),
    # moments of a step
    "phase.forward": N_("end of the forward pass"),
    "phase.loss": N_("the loss"),
    "phase.head": N_("the output projection's backward pass"),
    "phase.backward": N_("a layer's backward pass"),
    "phase.end_of_backward": N_("end of the backward pass"),
    "phase.step": N_("the optimizer step"),
    # ranges
    "reserved.caching_allocator": N_(
        "the caching allocator: a pool for every stream, each as large as it ever was, and workspaces"
    ),
    "outside.context": N_("CUDA context, lazy to eager module loading"),
    "outside.context_and_nccl": N_("CUDA context, NCCL and its groups"),
    # assumptions
    "framework.torch": N_("as PyTorch runs it: DDP or FSDP around plain modules"),
    "framework.megatron": N_("as Megatron-LM runs it: distributed optimizer, fp32 main gradients"),
    "framework.megatron-legacy": N_("as Megatron-LM ran before Transformer Engine: kernels of its own"),
    "framework.deepspeed": N_("as DeepSpeed runs it: ZeRO with 16-bit weights and fp32 master weights"),
    "framework.hf": N_("as Hugging Face models run: eager mode, norms in fp32"),
    "copies.own_states": N_("each copy of a stage has gradients and optimizer states of its own"),
    "mesh.fsdp1_no_shard": N_(
        "FSDP1 on a mesh (n, 1) warns and goes to NO_SHARD, as torch 2.13 does: nothing is cut, and the "
        "gradients of the replicas are never summed (pytorch #154888)"
    ),
    "mesh.uneven_experts": N_(
        "more ranks share the experts than there are, and their number does not divide the rows: FSDP2 "
        "refuses that"
    ),
    "mesh.hsdp_one_shard": N_(
        "HSDP with one shard cuts nothing: whole gradients are all-reduced over dp_replicate, as in DDP"
    ),
    "mesh.hsdp_one_replica": N_("HSDP with one replica holds and sends what FSDP does"),
    "routing.even": N_("the router gives every expert an even share of the tokens"),
}


def explain(message_id: str) -> str:
    """The sentence of a message id in the language in force; the id itself where there is none."""
    return tr(SENTENCES[message_id]) if message_id in SENTENCES else message_id
