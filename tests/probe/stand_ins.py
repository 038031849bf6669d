"""Stand-ins for tensors, where PyTorch is not wanted."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

_ADDRESSES = count(0x1000, 0x100)


class FakeStorage:
    """Memory at an address."""

    def __init__(self, size: int) -> None:
        self.device = SimpleNamespace(type="cuda")
        self._size = size
        self._address = next(_ADDRESSES)

    def nbytes(self) -> int:
        return self._size

    def data_ptr(self) -> int:
        return self._address


class FakeTensor:
    """A tensor with memory and no more."""

    def __init__(self, size: int, gradient: FakeTensor | None = None) -> None:
        self.device = SimpleNamespace(type="cuda")
        self.grad = gradient
        self._storage = FakeStorage(size)

    def untyped_storage(self) -> FakeStorage:
        return self._storage


class FakeParameter(FakeTensor):
    """What a plan asks of a parameter, too."""

    dtype = "torch.float32"
    requires_grad = True

    def __init__(self, size: int) -> None:
        super().__init__(size, FakeTensor(size))
        self.shape = (size // 4,)

    def numel(self) -> int:
        return self.shape[0]
