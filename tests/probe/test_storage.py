"""Bytes by storage: views, wrappers, sparse tensors and nested optimizer state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scaletui_probe.storage import Held, StorageCount

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def torch() -> Any:
    import torch

    return torch


def shared(torch: Any) -> list[Any]:
    """Views of one buffer of 16 numbers, as the gradients of an FSDP2 group are."""
    buffer = torch.zeros(16)
    return [buffer[:4], buffer[4:8].view(2, 2), buffer[8:8]]


def sparse(torch: Any) -> Any:
    return torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.ones(2, 3), (4, 3), check_invariants=False)


def wrapper(torch: Any) -> Any:
    from torch.testing._internal.two_tensor import TwoTensor

    return TwoTensor(torch.zeros(4), torch.zeros(4))


def nested(torch: Any) -> Any:
    return {"step": torch.tensor(1.0), "old": [torch.zeros(2), None], "lr": 0.1}


def two_precisions(torch: Any) -> Any:
    return [torch.zeros(8, dtype=torch.bfloat16), torch.zeros(8)]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(lambda torch: torch.zeros(4, 3), 48, id="a-tensor"),
        pytest.param(lambda torch: torch.zeros(4, 3).t(), 48, id="a-transposed-view"),
        pytest.param(shared, 64, id="views-of-one-buffer-count-once"),
        pytest.param(lambda torch: shared(torch)[2], 64, id="an-empty-shard-holds-its-padded-storage"),
        pytest.param(lambda torch: torch.zeros(0), 0, id="nothing"),
        pytest.param(lambda torch: torch.zeros(1000, device="meta"), 0, id="meta"),
        pytest.param(nested, 12, id="nested"),
        pytest.param(sparse, 2 * 8 + 2 * 3 * 4, id="sparse-indices-and-values"),
        pytest.param(wrapper, 32, id="a-tensor-that-wraps-two"),
        pytest.param(
            lambda torch: [torch.zeros(8, dtype=torch.bfloat16), torch.zeros(8)], 48, id="bf16-and-fp32"
        ),
    ],
)
def test_bytes(torch: Any, make: Callable[[Any], Any], expected: int) -> None:
    assert StorageCount().add(make(torch)) == Held(device=0, host=expected)


def test_what_was_counted_as_one_part_is_no_other(torch: Any) -> None:
    count = StorageCount()
    weight = torch.zeros(8)
    assert count.add([weight]).host == 32
    assert count.add([weight.view(2, 4), torch.zeros(1)]).host == 4
