"""FSDP1's flat parameters, where they are what an optimizer holds (`use_orig_params=False`).

A flat parameter documents what it keeps and what it gathers in its own attributes
(torch/distributed/fsdp/_flat_param.py, class FlatParameter). Where an optimizer holds the original
parameters, nothing leads from them to the flat one: they are counted by storage like those of any job, and
what is unsharded is not available.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaletui_probe.fsdp2 import dtype_name

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT = "_local_shard"
_GATHERED = ("_full_param_padded", "_full_prec_full_param_padded", "_mp_shard")


def is_flattened(parameter: Any) -> bool:
    """Whether FSDP1 has marked it: a flat parameter, or an original one that lies in one."""
    return bool(getattr(parameter, "_fsdp_flattened", False))


def hides_flat(parameters: Iterable[Any]) -> bool:
    """Whether original parameters lie in a flat one that cannot be seen: what is gathered is not known."""
    return any(is_flattened(p) and not getattr(p, "_is_flat_param", False) for p in parameters)


def units(optimizers: Iterable[Any]) -> list[Fsdp1Unit]:
    """The flat parameters among those of the optimizers."""
    flat = {
        id(parameter): parameter
        for optimizer in optimizers
        for group in optimizer.param_groups
        for parameter in group["params"]
        if getattr(parameter, "_is_flat_param", False)
    }
    return [Fsdp1Unit(parameter) for parameter in flat.values()]


class Fsdp1Unit:
    """One flat parameter: what is gathered and reduced together."""

    wrapper = "fsdp1"

    def __init__(self, flat: Any) -> None:
        self._flat = flat

    def parameters(self) -> list[Any]:
        """The flat parameter, which is what the optimizer updates."""
        return [self._flat]

    def sharded_weights(self) -> list[Any]:
        """The shard that this rank keeps."""
        return [getattr(self._flat, _KEPT, None)]

    def master_weights(self) -> list[Any]:
        """None: the shards themselves are what the optimizer updates."""
        return []

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
        return [gradient] if whole and self._shards() > 1 else []

    def _shards(self) -> int:
        """Ranks that the padded parameter is cut for; one without sharding, where nothing is padded."""
        padded = getattr(self._flat, "_padded_unsharded_size", None)
        kept = self._flat._sharded_size.numel()
        return 1 if padded is None or not kept else int(padded.numel() // kept)

    def is_unsharded(self) -> bool:
        """Whether this rank holds the weights of all ranks now."""
        gathered = getattr(self._flat, "_full_param_padded", None)
        return gathered is not None and gathered.untyped_storage().nbytes() > 0

    def mesh(self) -> Any:
        """FSDP1 shards over a process group; there is no mesh."""
        return None

    def facts(self) -> dict[str, Any]:
        """What the plan says of the flat parameter."""
        names = getattr(self._flat, "_fqns", ())
        compute = getattr(self._flat, "_mp_shard", None)
        return {
            "name": _common_prefix(list(names)),
            "param_dtype": dtype_name(getattr(compute, "dtype", None)),
            "reduce_dtype": None,
            "reshard_after_forward": None,
            "offload": getattr(self._flat, "_cpu_grad", None) is not None,
            "shards": self._shards(),
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
