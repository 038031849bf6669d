"""What a scenario file says beside its keys."""

from __future__ import annotations

from typing import Final

HEADER: Final = """\
# A scaletui scenario: a model on a cluster under a plan.
# Axes left out are 1, and data parallelism takes the GPUs that are left.
"""

COMMENTS: Final = {
    "model": {
        "id": "of the catalogue; or give the fields of your own",
        "hidden": "width of the residual stream",
        "ffn": "inner width of the MLP",
        "tie": "the output projection is the token table",
        "max_seq": "longest sequence, tokens",
    },
    "model.moe": {
        "topk": "experts a token visits",
        "ffn": "inner width of a routed expert",
        "every": "one layer in so many has experts",
        "first_dense": "leading layers without experts",
    },
    "cluster": {
        "gpu": "of the catalogue; or a [cluster.gpu] table",
        "gpus": "in all",
        "nvlink_domain": "GPUs that reach each other over NVLink, when it is not the GPU's usual number",
        "host_memory": "of one node",
    },
    "cluster.gpu": {
        "usable": "what the driver reports in total",
        "memory_bandwidth": "bytes a second",
        "nvlink_bandwidth": "bytes a second in one direction, per GPU",
        "network_bandwidth": "bytes a second in one direction, per GPU",
        "host_bandwidth": "bytes a second in one direction, per GPU",
    },
    "cluster.gpu.peak_flops": {},
    "plan": {
        "tp": "tensor parallel",
        "cp": "context parallel",
        "ep": "expert parallel, inside dp_shard x cp x tp",
        "pp": "pipeline ranks",
        "dp_replicate": "replicas",
        "dp_shard": "ranks that share one copy of the states",
        "strategy": "ddp, zero1, zero2, zero3, fsdp1, fsdp, hsdp",
        "precision": "recipe of bytes a parameter",
        "recompute": "none, selective, full",
        "offload": "none, optimizer, params",
        "reshard_after_forward": "free gathered weights between forward and backward",
        "sequence_parallel": "beside tp",
        "micro_batch": "sequences of one microbatch",
        "global_batch": "sequences of one step, over all ranks",
        "seq": "tokens of a sequence",
        "schedule": "of the pipeline; nothing depends on it with pp 1",
        "chunks": "model chunks of a pipeline rank",
        "layer_split": "even, front, ends, or the layers of every stage",
    },
    "plan.runtime": {
        "framework": "auto, torch, megatron, megatron-legacy, deepspeed, hf",
        "float8": "linear layers computed in 8 bits",
        "float8_tile": "elements that share a scale of what is kept in 8 bits",
        "float8_saved": "blocks whose activation's input is kept in 8 bits: mlp, moe, shared_experts",
        "attention_output_bits": "attention's output kept once, in so many bits",
        "router_weights": "multiplied on the experts' output, or on their activation",
        "recompute_modules": "core_attn mla_up_proj mlp moe_act layernorm moe shared_experts latent_norm",
        "recompute_every": "with full recompute, one of so many layers",
        "recompute_layers": "with full recompute, the first so many layers of a stage",
        "capacity_factor": "tokens an expert may take, over an even share",
        "imbalance": "tokens of the busiest rank's experts, over an even share",
        "zero_hpz": "ranks that share a second copy of the weights (ZeRO++)",
    },
}  # fmt: skip
