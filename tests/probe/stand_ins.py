"""Stand-ins for tensors, where PyTorch is not wanted."""

from __future__ import annotations

from types import SimpleNamespace


class FakeStorage:
    """Memory at an address."""

    def __init__(self, size: int) -> None:
        self._size = size

    def nbytes(self) -> int:
        return self._size

    def data_ptr(self) -> int:
        return id(self)


class FakeTensor:
    """A tensor with memory and no more."""

    def __init__(self, size: int, gradient: FakeTensor | None = None) -> None:
        self.device = SimpleNamespace(type="cuda")
        self.grad = gradient
        self._storage = FakeStorage(size)

    def untyped_storage(self) -> FakeStorage:
        return self._storage
