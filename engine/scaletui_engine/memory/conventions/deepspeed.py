"""DeepSpeed's estimators of model states, bit for bit in their own floating-point arithmetic.

Source: deepspeed/runtime/zero/stage_1_and_2.py, `estimate_zero2_model_states_mem_needs`, and stage3.py,
`estimate_zero3_model_states_mem_needs`. They know no activations, no TP or PP, no buckets and no frozen
parameters, and count 18 bytes a parameter: 2 + 2 for 16-bit weights and gradients, 4 for fp32 gradients,
12 for fp32 weights and Adam's moments. Our own budget for ZeRO-2 holds the fp32 gradients for the step only.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.plan import Offload


@dataclass(frozen=True, slots=True)
class DeepspeedCase:
    """What the estimators ask for."""

    params: int
    gpus_per_node: int = 1
    nodes: int = 1
    offload: Offload = Offload.NONE
    """OPTIMIZER is `cpu_offload`; PARAMS is that with `cpu_offload_params`."""
    zero_init: bool = True
    largest_layer: int = 0
    buffer: float = 1.5
    """`additional_buffer_factor`."""

    @property
    def gpus(self) -> int:
        """GPUs of all nodes."""
        return self.gpus_per_node * self.nodes


@dataclass(frozen=True, slots=True)
class DeepspeedNeeds:
    """Bytes a GPU and bytes a node's host."""

    gpu: int
    host: int


def zero2_needs(case: DeepspeedCase) -> DeepspeedNeeds:
    """ZeRO-2, with or without the optimizer on the host."""
    params = case.params
    if case.offload is not Offload.NONE:
        return DeepspeedNeeds(2 * params, int(params * max(4 * case.gpus, 16) * case.buffer))
    host = int(params * 4 * case.gpus_per_node * case.buffer)
    return DeepspeedNeeds(2 * params + int(18 * params / case.gpus), host)


def zero2_documented(case: DeepspeedCase) -> DeepspeedNeeds:
    """ZeRO-2 as docs/code-docs/source/memory.rst still prints it: 4 bytes whole and 16 sharded.

    The code has counted 2 + 18/N since pull request 5099; with the optimizer on the host the two agree.
    """
    needs = zero2_needs(case)
    if case.offload is not Offload.NONE:
        return needs
    return DeepspeedNeeds(4 * case.params + int(16 * case.params / case.gpus), needs.host)


def zero3_needs(case: DeepspeedCase) -> DeepspeedNeeds:
    """ZeRO-3: 4 bytes for each parameter of the largest layer, and what is not offloaded."""
    largest, params, share = 4 * case.largest_layer, case.params, 1 / case.nodes
    if case.offload is Offload.NONE:
        loaded = case.largest_layer if case.zero_init else params
        host = int(loaded * 4 * case.gpus_per_node * case.buffer)
        return DeepspeedNeeds(largest + int(18 * params / case.gpus), host)
    a_param = 18 if case.offload is Offload.PARAMS else 16
    gpu = largest if case.offload is Offload.PARAMS else largest + int(2 * params / case.gpus)
    held = a_param * share if case.zero_init else max(4 * case.gpus_per_node, a_param * share)
    return DeepspeedNeeds(gpu, int(_host(params, held, case)))


def _host(params: int, held: float, case: DeepspeedCase) -> float:
    """In the estimators' order of operations, which rounds differently from any other."""
    if case.zero_init:
        a_param = 18 if case.offload is Offload.PARAMS else 16
        return params * a_param * (1 / case.nodes) * case.buffer
    return params * held * case.buffer
