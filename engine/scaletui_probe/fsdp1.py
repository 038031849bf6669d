"""FSDP1's flat parameters, found in the modules of a job: every wrapper has a handle with one flat
parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaletui_probe.fsdp2 import dtype_name

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT = "_local_shard"
_GATHERED = ("_full_param_padded", "_full_prec_full_param_padded", "_mp_shard")


def units(outermost: Iterable[Any]) -> list[Fsdp1Unit]:
    """The handles of all FSDP1 wrappers at or below the given modules."""
    handles = {}
    for module in outermost:
        for inner in module.modules():
            handle = getattr(inner, "_handle", None)
            if handle is not None and hasattr(handle, "flat_param"):
                handles[id(handle)] = handle
    return [Fsdp1Unit(handle) for handle in handles.values()]


class Fsdp1Unit:
    """One flat parameter: what is gathered and reduced together."""

    wrapper = "fsdp1"

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._flat = handle.flat_param

    def parameters(self) -> list[Any]:
        """The original parameters when the job uses those, else the flat one."""
        return list(getattr(self._flat, "_params", None) or [self._flat])

    def sharded_weights(self) -> list[Any]:
        """The shard that this rank keeps."""
        return [getattr(self._flat, _KEPT, None)]

    def sharded_gradients(self) -> list[Any]:
        """The reduced gradient: saved between accumulation steps, on the host when offloaded."""
        return [getattr(self._flat, name, None) for name in ("_saved_grad_shard", "_cpu_grad")]

    def unsharded_weights(self) -> list[Any]:
        """What an all-gather brought, and the shard in low precision; empty while sharded."""
        kept = self._pointer(getattr(self._flat, _KEPT, None))
        gathered = [getattr(self._flat, name, None) for name in _GATHERED]
        return [tensor for tensor in gathered if self._pointer(tensor) != kept]

    def _pointer(self, tensor: Any) -> int | None:
        return None if tensor is None else int(tensor.untyped_storage().data_ptr())

    def unsharded_gradients(self) -> list[Any]:
        """FSDP1 reduces gradients before the step; what is left are those of the shards."""
        return []

    def unreduced_gradients(self) -> list[Any]:
        """The whole gradient, while it is as large as the whole parameter (accumulation without
        synchronisation)."""
        gradient = self._flat.grad
        whole = gradient is not None and gradient.numel() == self._flat._unpadded_unsharded_size.numel()
        return [gradient] if whole and self._handle.uses_sharded_strategy else []

    def is_unsharded(self) -> bool:
        """Whether this rank holds the weights of all ranks now."""
        gathered = getattr(self._flat, "_full_param_padded", None)
        return gathered is not None and gathered.untyped_storage().nbytes() > 0

    def mesh(self) -> Any:
        """FSDP1 shards over a process group; there is no mesh."""
        return None

    def facts(self) -> dict[str, Any]:
        """What the plan says of the flat parameter."""
        handle = self._handle
        names = getattr(self._flat, "_fqns", ())
        return {
            "name": _common_prefix(list(names)),
            "param_dtype": dtype_name(getattr(handle, "_fwd_bwd_param_dtype", None)),
            "reduce_dtype": dtype_name(getattr(handle, "_reduce_dtype", None)),
            "reshard_after_forward": getattr(handle._sharding_strategy, "name", "").endswith("FULL_SHARD"),
            "offload": bool(getattr(handle, "_offload_params", False)),
            "shards": int(handle.world_size) if handle.uses_sharded_strategy else 1,
            "tensors": len(names),
        }


def _common_prefix(names: list[str]) -> str:
    parts = [name.split(".")[:-1] for name in names]
    common = []
    for level in zip(*parts):  # noqa: B905  # strict= came with Python 3.10
        if len(set(level)) > 1:
            break
        common.append(level[0])
    return ".".join(common)
