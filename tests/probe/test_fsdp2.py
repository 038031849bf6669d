"""FSDP2's groups as several versions of PyTorch keep them, without PyTorch."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from probe.stand_ins import FakeTensor

from scaletui_probe import fsdp2
from scaletui_probe.storage import StorageCount
from scaletui_probe.units import Unit, group_bits


class FSDPState:
    """A state of PyTorch 2.13 (a list of groups) or of an older one (one group)."""

    def __init__(self, groups: list[Any], plural: bool) -> None:
        self._modules = (object(),)
        if plural:
            self._fsdp_param_groups = groups
        self._single = groups

    @property
    def _fsdp_param_group(self) -> Any:
        assert len(self._single) < 2, "several groups"
        return self._single[0] if self._single else None


class ReplicateState(FSDPState):
    """`replicate` on top of FSDP2."""


class OtherState:
    """A composable state of some other kind."""


def parameter(state: str, gathered: int) -> SimpleNamespace:
    return SimpleNamespace(
        sharded_param=FakeTensor(40, FakeTensor(40)),
        _sharded_param_data=FakeTensor(40),
        all_gather_outputs=[FakeTensor(gathered if state != "SHARDED" else 0)],
        unsharded_accumulated_grad=None,
        offload_to_cpu=False,
    )


def group(state: str = "SHARDED", **changes: Any) -> SimpleNamespace:
    fields = {
        "fsdp_params": [parameter(state, 80), parameter(state, 80)],
        "_sharded_state": SimpleNamespace(name=state),
        "_all_gather_result": None,
        "_partial_reduce_output": None,
        "comm_ctx": SimpleNamespace(all_gather_state=None, reduce_scatter_states=[]),
        "_module_fqn": "layers.0",
        "mesh_info": SimpleNamespace(shard_mesh_size=2, mesh=None),
        "mp_policy": SimpleNamespace(param_dtype="torch.bfloat16", reduce_dtype=None),
        "post_forward_mesh_info": object(),
    }
    return SimpleNamespace(**{**fields, **changes})


def register(monkeypatch: pytest.MonkeyPatch, states: list[Any]) -> None:
    registry = {object(): (lambda state=state: state) for state in states}
    module = SimpleNamespace(_module_state_mapping=registry)
    monkeypatch.setitem(sys.modules, "torch.distributed._composable_state", module)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param([FSDPState([group(), group()], plural=True)], 2, id="2.13-several-groups"),
        pytest.param([FSDPState([group()], plural=False)], 1, id="older-one-group"),
        pytest.param([FSDPState([], plural=False)], 0, id="older-no-parameters"),
        pytest.param([ReplicateState([group()], plural=True)], 1, id="a-kind-of-fsdp-state"),
        pytest.param([OtherState(), None], 0, id="other-states-and-dead-ones"),
        pytest.param([], 0, id="empty-registry"),
    ],
)
def test_groups_are_found(monkeypatch: pytest.MonkeyPatch, states: list[Any], expected: int) -> None:
    register(monkeypatch, states)
    assert len(fsdp2.units()) == expected


def test_a_state_that_several_modules_share_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    state = FSDPState([group()], plural=True)
    register(monkeypatch, [state, state])
    assert len(fsdp2.units()) == 1


class Restless(dict[object, Any]):
    """A registry that changes while it is read, the first times."""

    def __init__(self, failures: int) -> None:
        super().__init__({"module": lambda: FSDPState([group()], plural=True)})
        self._failures = failures

    def values(self) -> Any:
        self._failures -= 1
        if self._failures >= 0:
            raise RuntimeError("dictionary changed size during iteration")
        return super().values()


@pytest.mark.parametrize(("failures", "expected"), [(0, 1), (2, 1), (3, 0)])
def test_a_registry_that_changes_meanwhile_is_read_again(
    monkeypatch: pytest.MonkeyPatch, failures: int, expected: int
) -> None:
    module = SimpleNamespace(_module_state_mapping=Restless(failures))
    monkeypatch.setitem(sys.modules, "torch.distributed._composable_state", module)
    assert len(fsdp2.units()) == expected


def context(**changes: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"all_gather_state": None, "reduce_scatter_states": [], **changes})


IN_FLIGHT = SimpleNamespace(all_gather_output=FakeTensor(160))


@pytest.mark.parametrize(
    ("found", "weights", "gradients"),
    [
        pytest.param(group("SHARDED"), 0, 0, id="sharded"),
        pytest.param(group("UNSHARDED"), 160, 0, id="unsharded"),
        pytest.param(group(_all_gather_result=IN_FLIGHT), 160, 0, id="all-gather-in-flight"),
        pytest.param(
            group(comm_ctx=context(all_gather_state=SimpleNamespace(all_gather_result=IN_FLIGHT))),
            160,
            0,
            id="copy-out-in-flight",
        ),
        pytest.param(
            group(
                comm_ctx=context(reduce_scatter_states=[SimpleNamespace(reduce_scatter_input=FakeTensor(96))])
            ),
            0,
            96,
            id="reduce-scatter-in-flight",
        ),
        pytest.param(
            group(
                comm_ctx=SimpleNamespace(
                    reduce_scatter_state=SimpleNamespace(reduce_scatter_input=FakeTensor(96))
                )
            ),
            0,
            96,
            id="reduce-scatter-of-an-older-version",
        ),
        pytest.param(group(_partial_reduce_output=FakeTensor(48)), 0, 48, id="hsdp-before-its-all-reduce"),
    ],
)
def test_what_is_unsharded(found: Any, weights: int, gradients: int) -> None:
    unit = fsdp2.Fsdp2Unit(found)
    assert StorageCount().add_each(unit.unsharded_weights()).device == weights
    assert StorageCount().add_each(unit.unsharded_gradients()).device == gradients
    assert StorageCount().add(unit.sharded_weights()).device == 80
    assert StorageCount().add(unit.sharded_gradients()).device == 80


def test_gradients_kept_without_synchronisation_are_unsharded() -> None:
    found = group()
    found.fsdp_params[0].unsharded_accumulated_grad = FakeTensor(80)
    assert StorageCount().add_each(fsdp2.Fsdp2Unit(found).unsharded_gradients()).device == 80


def test_bits_say_which_units_are_unsharded() -> None:
    units: list[Unit] = [fsdp2.Fsdp2Unit(group(state)) for state in ("UNSHARDED", "SHARDED", "UNSHARDED")]
    assert group_bits(units) == (2, bytes([0b101]) + bytes(63))


def test_the_facts_of_a_group() -> None:
    assert fsdp2.Fsdp2Unit(group()).facts() == {
        "name": "layers.0",
        "param_dtype": "bfloat16",
        "reduce_dtype": None,
        "reshard_after_forward": True,
        "offload": False,
        "shards": 2,
        "tensors": 2,
    }
