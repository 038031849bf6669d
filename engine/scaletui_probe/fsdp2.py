"""FSDP2's parameter groups, found through PyTorch's own registry of composable states.

Nothing is hooked and the garbage collector is not asked: `torch.distributed._composable_state` maps every
module that `fully_shard` was applied to, to its state. PyTorch 2.13 has a list `_fsdp_param_groups`
there; before, there was one `_fsdp_param_group`, which newer versions keep as a property that raises when
there are several.

What is unsharded comes one by one, and is to be let go of at once: FSDP2 frees the buffers of its collectives
by dropping them, and a thread that held a list of them would keep memory that the job wants to use again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_RETRIES = 3


def states() -> list[Any]:
    """Every FSDP2 state that is alive."""
    module: Any = sys.modules.get("torch.distributed._composable_state")
    registry: Any = getattr(module, "_module_state_mapping", None)
    for _ in range(_RETRIES if registry else 0):
        try:
            alive = [reference() for reference in list(registry.values())]
        except RuntimeError:
            continue  # the training thread added a module meanwhile
        return list({id(state): state for state in alive if _is_fsdp(state)}.values())
    return []


def _is_fsdp(state: Any) -> bool:
    return any(kind.__name__ == "FSDPState" for kind in type(state).__mro__)


def modules() -> list[Any]:
    """The modules that the states belong to."""
    return [module for state in states() for module in getattr(state, "_modules", ())]


def roots() -> list[Any]:
    """Those of the modules that are in no other of them."""
    found = {id(module): module for module in modules()}
    inner = {id(part) for module in found.values() for part in module.modules() if part is not module}
    return [module for key, module in found.items() if key not in inner]


def units() -> list[Fsdp2Unit]:
    """The parameter groups of every state, in the order in which `fully_shard` was called."""
    return [Fsdp2Unit(group) for state in states() for group in _groups_of(state)]


def _groups_of(state: Any) -> list[Any]:
    several = getattr(state, "_fsdp_param_groups", None)
    if several is not None:
        return list(several)
    one = getattr(state, "_fsdp_param_group", None)
    return [] if one is None else [one]


class Fsdp2Unit:
    """One parameter group: what is gathered and reduced together."""

    wrapper = "fsdp2"

    def __init__(self, group: Any) -> None:
        self._group = group

    def parameters(self) -> list[Any]:
        """The sharded parameters."""
        return [parameter.sharded_param for parameter in self._group.fsdp_params]

    def sharded_weights(self) -> list[Any]:
        """The padded flat shards that this rank keeps."""
        return [parameter._sharded_param_data for parameter in self._group.fsdp_params]

    def master_weights(self) -> list[Any]:
        """None: the shards themselves are what the optimizer updates."""
        return []

    def sharded_gradients(self) -> list[Any]:
        """Gradients of the shards: only the training thread may look, because PyTorch holds them."""
        return [parameter.grad for parameter in self.parameters()]

    def unsharded_weights(self) -> Iterator[Any]:
        """What an all-gather brought; storages are empty while the group is sharded."""
        if self._state() != "SHARDED":
            for parameter in self._group.fsdp_params:
                yield parameter.all_gather_outputs
                yield getattr(parameter, "_unsharded_inner_tensors", ())
                yield getattr(parameter, "_sharded_post_forward_param_data", None)
        yield getattr(self._group._all_gather_result, "all_gather_output", None)
        yield _inner(self._group.comm_ctx, "all_gather_state", "all_gather_result", "all_gather_output")

    def unsharded_gradients(self) -> Iterator[Any]:
        """Gradients not reduced yet: kept without synchronisation, or on their way through a
        reduce-scatter."""
        for parameter in self._group.fsdp_params:
            yield getattr(parameter, "unsharded_accumulated_grad", None)
        yield getattr(self._group, "_partial_reduce_output", None)
        context = self._group.comm_ctx
        yield _inner(context, "reduce_scatter_state", "reduce_scatter_input")
        for place in range(len(getattr(context, "reduce_scatter_states", ()))):
            yield _pending(context.reduce_scatter_states, place)

    def unreduced_gradients(self) -> list[Any]:
        """Gradients that autograd just made. It writes them outside Python: only the training thread may
        look."""
        unsharded = (getattr(p, "_unsharded_param", None) for p in self._group.fsdp_params)
        return [getattr(parameter, "grad", None) for parameter in unsharded]

    def is_unsharded(self) -> bool:
        """Whether this rank holds the weights of all ranks now."""
        return self._state() == "UNSHARDED"

    def _state(self) -> str:
        return getattr(self._group._sharded_state, "name", "")

    def mesh(self) -> Any:
        """The device mesh that the group is sharded over."""
        return self._group.mesh_info.mesh

    def facts(self) -> dict[str, Any]:
        """What the plan says of the group."""
        group = self._group
        policy = getattr(group, "mp_policy", None)
        return {
            "name": group._module_fqn or "",
            "param_dtype": dtype_name(getattr(policy, "param_dtype", None)),
            "reduce_dtype": dtype_name(getattr(policy, "reduce_dtype", None)),
            "reshard_after_forward": getattr(group, "post_forward_mesh_info", None) is not None,
            "offload": any(getattr(p, "offload_to_cpu", False) for p in group.fsdp_params),
            "shards": int(getattr(group.mesh_info, "shard_mesh_size", 1)),
            "tensors": len(group.fsdp_params),
        }


def _inner(holder: Any, *names: str) -> Any:
    """What the chain of attributes leads to; None where it breaks off."""
    for name in names:
        holder = getattr(holder, name, None)
    return holder


def _pending(states: list[Any], place: int) -> Any:
    """The input of a reduce-scatter; None when the training thread has taken it off the list meanwhile."""
    return getattr(states[place], "reduce_scatter_input", None) if place < len(states) else None


def dtype_name(dtype: Any) -> str | None:
    """ "bfloat16" of torch.bfloat16."""
    return None if dtype is None else str(dtype).replace("torch.", "")
