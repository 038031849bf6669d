"""ZeRO optimizers as DeepSpeed 0.19 keeps them, without DeepSpeed.

The stand-ins have the attributes and the calls of runtime/zero/stage_1_and_2.py (`bit16_groups` and what
follows it in `__init__`; `_optimizer_step`) and runtime/zero/stage3.py (`fp16_groups` and what follows it;
`_optimizer_step`). `test_zero_jobs.py` holds them against the real ones where there is a DeepSpeed.
"""

from __future__ import annotations

import importlib.util
import sys
import weakref
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from probe.stand_ins import FakeTensor

from scaletui_probe import deepspeed, states
from scaletui_probe.naming import named
from scaletui_probe.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable


class Hooked:
    """PyTorch's optimizer below ZeRO; `hook` runs where the probe's hooks do."""

    def __init__(self, hook: Callable[[Any], None]) -> None:
        self.hook = hook
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Any, Any] = {}

    def step(self) -> None:
        self.hook(self)


def _stand_ins() -> ModuleType:
    """The stand-ins as a module of DeepSpeed: the probe looks at no frame of another."""
    path = Path(__file__).with_name("zero_stand_ins.py")
    spec = importlib.util.spec_from_file_location("deepspeed.runtime.stand_ins", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ZERO = _stand_ins()


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deepspeed", ModuleType("deepspeed"))


def stepped(make: Callable[[Hooked], Any]) -> tuple[Hooked, Any, list[deepspeed.Part]]:
    """A wrapper that has made one training step, and how its optimizer's calls looked from a hook."""
    parts: list[deepspeed.Part] = []
    optimizer = Hooked(lambda own: parts.append(deepspeed.part(own)))
    wrapper = make(optimizer)
    wrapper.step()
    return optimizer, wrapper, parts


def stage(number: int, groups: int = 2) -> Callable[[Hooked], Any]:
    if number == 3:
        return lambda optimizer: ZERO.DeepSpeedZeroOptimizer_Stage3(optimizer, groups)
    return lambda optimizer: ZERO.DeepSpeedZeroOptimizer(optimizer, groups, partition_gradients=number == 2)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_the_calls_of_one_training_step_are_its_parts(number: int, groups: int) -> None:
    optimizer, wrapper, parts = stepped(stage(number, groups))
    assert [index for index, part in enumerate(parts) if part.begins] == [0]
    assert [index for index, part in enumerate(parts) if part.ends] == [groups - 1]
    assert len(parts) == groups
    assert deepspeed.owner(optimizer) is wrapper
    assert deepspeed.stage(wrapper) == number


@pytest.mark.parametrize(
    ("number", "counted"),
    [
        pytest.param(1, {"gradients": 2 * 128 + 32 + 4 * 16, "unsharded_gradients": 48}, id="stage-1"),
        pytest.param(2, {"gradients": 2 * 128 + 32, "unsharded_gradients": 48 + 4 * 16}, id="stage-2"),
        pytest.param(3, {"gradients": 2 * 128 + 32, "unsharded_gradients": 48 + 3 * 16}, id="stage-3"),
    ],
)
def test_gradients_before_a_step(number: int, counted: dict[str, int]) -> None:
    optimizer, wrapper, _ = stepped(stage(number))
    held = states.before_step(states.look([optimizer]))
    assert {name: part.device for name, part in held.items()} == counted
    assert wrapper.optimizer is optimizer


@pytest.mark.parametrize(
    ("number", "counted"),
    [
        pytest.param(
            1, {"weights": 128, "master_weights": 256, "optimizer": 12, "unsharded_weights": 0}, id="stage-1"
        ),
        pytest.param(
            3, {"weights": 60, "master_weights": 256, "optimizer": 12, "unsharded_weights": 80}, id="stage-3"
        ),
    ],
)
def test_states_after_a_step(number: int, counted: dict[str, int]) -> None:
    optimizer, wrapper, _ = stepped(stage(number))
    optimizer.state = {"any": {"exp_avg": FakeTensor(12)}}
    held = states.after_step(states.look([optimizer]))
    assert {name: part.device for name, part in held.items()} == counted
    units = deepspeed.units([optimizer])
    assert [unit.is_unsharded() for unit in units] == [False, number == 3]
    assert [unit.facts()["name"] for unit in units] == [f"zero{number}.0", f"zero{number}.1"]
    assert {unit.facts()["shards"] for unit in units} == {2}
    settings = {name: unit.facts()["zero"][name] for unit in units for name in ("round_robin", "contiguous")}
    assert settings == {"round_robin": False, "contiguous": True}
    assert wrapper.optimizer is optimizer


def test_names_are_deepspeeds_own_and_shapes_are_whole() -> None:
    optimizer, zero, _ = stepped(stage(1))
    job = states.look([optimizer])
    assert [name for name, _ in named(job)] == ["layer.weight", "0.1", "1.0", "1.1"]
    optimizer, zero, _ = stepped(stage(3))
    for entry in (parameter for group in zero.fp16_groups for parameter in group):
        entry.dtype, entry.requires_grad, entry.shape = "torch.bfloat16", True, (0,)
    found = plan(states.look([optimizer]), step=1)
    assert (found["wrapper"], [row[1] for row in found["parameters"]]) == ("deepspeed", [[2, 5]] * 3)


@pytest.mark.parametrize(
    ("make", "readable", "owned"),
    [
        pytest.param(ZERO.DeepSpeedEngine, True, False, id="stage-0-is-like-any-job"),
        pytest.param(ZERO.BF16_Optimizer, False, True, id="a-wrapper-that-is-not-known"),
        pytest.param(stage(2), True, True, id="zero"),
    ],
)
def test_what_is_not_known_is_not_counted(make: Callable[[Hooked], Any], readable: bool, owned: bool) -> None:
    optimizer, _wrapper, parts = stepped(make)
    assert all(part.begins for part in parts[:1])
    assert states.look([optimizer]).is_readable() is readable
    assert (deepspeed.owner(optimizer) is not None) is owned


def test_a_second_optimizer_for_what_is_not_offloaded_makes_it_unknown() -> None:
    optimizer, zero, _ = stepped(stage(3))
    zero.backup_optimizer = object()
    assert not states.look([optimizer]).is_readable()


def test_without_deepspeed_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "deepspeed")
    optimizer, _, parts = stepped(stage(1, groups=1))
    assert (parts, deepspeed.owner(optimizer)) == ([deepspeed.Part()], None)


def test_the_variables_of_the_jobs_own_functions_are_left_alone() -> None:
    """Python keeps what a frame's variables were when somebody asks for them, until that frame ends."""
    optimizer = Hooked(deepspeed.part)
    kept = FakeTensor(8)
    alive = weakref.ref(kept)
    optimizer.step()
    del kept
    assert alive() is None
