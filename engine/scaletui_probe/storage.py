"""The storages behind tensors: the memory itself, counted once however many tensors look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEEPEST = 6
"""How far lists, dictionaries and dataclasses of optimizer state are opened: L-BFGS nests one level, Shampoo
three."""


class Held(NamedTuple):
    """Bytes on accelerators and in the process's own memory."""

    device: int = 0
    host: int = 0


class StorageCount:
    """Counts bytes by storage; what was counted once, by any call on the same object, counts no more.

    FSDP2 makes all gradients of a group views of one reduce-scatter buffer, and a shard that is empty on
    this rank still holds its padded storage: neither shows in `numel`.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[str, int]] = set()

    def add(self, values: Any) -> Held:
        """Bytes of the storages in a tensor or in nested lists, tuples, dictionaries and dataclasses of
        tensors."""
        device = host = 0
        for tensor in tensors_in(values):
            kind, size = self._size(tensor)
            if kind == "cpu":
                host += size
            else:
                device += size
        return Held(device, host)

    def add_each(self, values: Iterable[Any]) -> Held:
        """Bytes of all values together, each let go of before the next comes."""
        device = host = 0
        for value in values:
            held = self.add(value)
            device, host = device + held.device, host + held.host
            del value
        return Held(device, host)

    def _size(self, tensor: Any) -> tuple[str, int]:
        kind = tensor.device.type
        if kind == "meta":
            return kind, 0
        storage = tensor.untyped_storage()
        if storage.device.type == "meta":
            return kind, 0  # a FakeTensor: it says that it is on a device, and holds nothing there
        size = storage.nbytes()
        key = (kind, storage.data_ptr())
        if not size or key in self._seen:
            return kind, 0
        self._seen.add(key)
        return kind, size


def tensors_in(values: Any, depth: int = 0) -> Iterator[Any]:
    """The plain tensors in a value: of a DTensor its local one, of other wrappers what they wrap."""
    if hasattr(values, "untyped_storage"):
        yield from _plain(values)
    elif depth < _DEEPEST and isinstance(values, dict):
        for value in list(values.values()):
            yield from tensors_in(value, depth + 1)
    elif depth < _DEEPEST and isinstance(values, (list, tuple)):
        for value in values:
            yield from tensors_in(value, depth + 1)
    elif depth < _DEEPEST and hasattr(type(values), "__dataclass_fields__"):
        for name in type(values).__dataclass_fields__:
            yield from tensors_in(getattr(values, name, None), depth + 1)


def _plain(tensor: Any) -> Iterator[Any]:
    local = getattr(tensor, "_local_tensor", None)
    if local is not None:
        yield from _plain(local)
    elif hasattr(type(tensor), "__tensor_flatten__"):
        for name in tensor.__tensor_flatten__()[0]:
            yield from _plain(getattr(tensor, name))
    elif getattr(tensor, "is_sparse", False):
        yield from (tensor._indices(), tensor._values())
    else:
        yield tensor
