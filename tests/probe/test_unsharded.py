"""Unsharded weights and gradients of real FSDP2 modules, on a process group that only pretends."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_probe import states
from scaletui_probe.optimizers import Optimizers
from scaletui_probe.plan import plan
from scaletui_probe.storage import Held, StorageCount

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.torch

WORLD, ROWS, COLUMNS = 2, 5, 3
PADDED_ROWS = 6
WHOLE = (PADDED_ROWS * COLUMNS + PADDED_ROWS) * 4
"""Bytes of a gathered layer: weight and bias in single precision, padded to the same rows on every rank."""


@pytest.fixture(scope="module")
def group() -> Iterator[None]:
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=WORLD, store=FakeStore())
    yield
    dist.destroy_process_group()


@pytest.fixture
def net(group: None) -> Any:
    import torch
    from torch.distributed.fsdp import fully_shard

    gc.collect()  # the nets of other tests, which FSDP2 leaves in cycles
    net = torch.nn.Sequential(torch.nn.Linear(COLUMNS, ROWS), torch.nn.Linear(ROWS, COLUMNS))
    fully_shard(net[0])
    return fully_shard(net)


def look(net: Any) -> states.Job:
    job = states.look([])
    assert job.modules == [net]
    return job


def unsharded(net: Any) -> int:
    return states.unsharded_now(look(net).units)["unsharded_weights"].host


def gathered(module: Any) -> int:
    """What the module's parameters hold now, asked of the parameters."""
    return StorageCount().add(list(module.parameters(recurse=False))).host


def test_a_layer_counts_while_it_is_gathered(net: Any) -> None:
    assert unsharded(net) == 0
    net[0].unshard()
    assert unsharded(net) == gathered(net[0]) == WHOLE
    net[0].reshard()
    assert unsharded(net) == 0


def test_gathered_weights_are_no_sharded_weights(net: Any) -> None:
    before = states.after_step(look(net))
    net[0].unshard()
    after = states.after_step(look(net))
    assert after["weights"] == before["weights"]
    assert (before["unsharded_weights"].host, after["unsharded_weights"].host) == (0, WHOLE)


def test_gradients_that_are_not_reduced_are_unsharded(net: Any) -> None:
    import torch

    net.set_requires_gradient_sync(False)
    net(torch.zeros(2, COLUMNS)).sum().backward()
    numel = 2 * ROWS * COLUMNS + ROWS + COLUMNS
    held = states.before_step(look(net))
    assert held == {"unsharded_gradients": Held(0, numel * 4), "gradients": Held(0, 0)}


def test_the_plan_names_what_the_job_asked_for(net: Any) -> None:
    import torch

    optimizers = Optimizers()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    optimizers.stepped(optimizer)
    found = plan(states.look(optimizers.alive()), step=1)
    rows = {row[0]: dict(zip(found["parameter_columns"], row, strict=True)) for row in found["parameters"]}
    assert list(rows) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert rows["0.weight"]["shape"] == [ROWS, COLUMNS]
    assert (rows["0.weight"]["placements"], rows["0.weight"]["mesh_shape"]) == (["S(0)"], [WORLD])
    assert [rows[name]["fsdp_group"] for name in rows] == [0, 0, 1, 1]
    assert found["optimizers"][0]["class"] == "torch.optim.sgd.SGD"
    assert found["optimizers"][0]["groups"][0]["arguments"]["momentum"] == 0.9
    assert found["mesh"] == {"device_type": "cpu", "shape": [WORLD], "names": []}
    assert found["parameters_total"] == 4


def test_buffers_are_told_only_of_a_model_that_is_seen_whole(net: Any) -> None:
    import torch

    net.register_buffer("scale", torch.ones(COLUMNS))
    outside = torch.nn.Linear(COLUMNS, 1)
    inner = torch.optim.SGD(net.parameters())
    both = torch.optim.SGD([*net.parameters(), *outside.parameters()])
    assert states.after_step(states.look([inner]))["buffers"] == Held(0, COLUMNS * 4)
    assert "buffers" not in states.after_step(states.look([both]))
    assert plan(states.look([inner]), step=1)["buffers"] == [["scale", [COLUMNS], "float32", "cpu"]]
    assert plan(states.look([both]), step=1)["buffers"] is None


def test_no_mesh_works_out_its_tensor_of_all_ranks(net: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does so anew at every question, and every parameter has a mesh: minutes, where there are many."""
    from torch.distributed.device_mesh import DeviceMesh

    asked = []
    answer = DeviceMesh.mesh.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(DeviceMesh, "mesh", property(lambda mesh: (asked.append(mesh), answer(mesh))[1]))
    found = plan(look(net), step=1, device_name="NVIDIA H100 PCIe")
    assert found["device_name"] == "NVIDIA H100 PCIe"
    assert [row[8:11] for row in found["parameters"]] == [[[], [WORLD], [0]]] * 4
    assert asked == []
