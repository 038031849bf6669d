"""Names of parameters, told and made up, without PyTorch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scaletui_probe.naming import named, plain_name
from scaletui_probe.states import Job

A, B, C = object(), object(), object()


class Optimizer:
    """What names need of one."""

    def __init__(self, *groups: dict[str, Any]) -> None:
        self.param_groups = groups


def module(**parameters: object) -> SimpleNamespace:
    return SimpleNamespace(named_parameters=parameters.items, parameters=parameters.values)


@pytest.mark.parametrize(
    ("optimizers", "modules", "expected"),
    [
        pytest.param([Optimizer({"params": [A, B]})], [], ["0.0", "0.1"], id="by-group-and-index"),
        pytest.param([Optimizer({"params": [A]}, {"params": [B]})], [], ["0.0", "1.0"], id="two-groups"),
        pytest.param(
            [Optimizer({"params": [A]}), Optimizer({"params": [B]})],
            [],
            ["0.0.0", "1.0.0"],
            id="two-optimizers",
        ),
        pytest.param(
            [Optimizer({"params": [A, B], "param_names": ["module.a", "module.b"]})],
            [],
            ["a", "b"],
            id="as-the-optimizer-was-told",
        ),
        pytest.param(
            [Optimizer({"params": [A]}), Optimizer({"params": [A]})], [], ["0.0.0"], id="held-twice"
        ),
        pytest.param(
            [Optimizer({"params": [A, C]})], [module(a=A, b=B)], ["a", "b", "0.1"], id="in-a-module"
        ),
        pytest.param([], [module(a=A, tied=A)], ["a"], id="tied"),
    ],
)
def test_every_parameter_has_one_name(optimizers: list[Any], modules: list[Any], expected: list[str]) -> None:
    assert [name for name, _ in named(Job(optimizers, modules, []))] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("module.layers.0.weight", "layers.0.weight", id="ddp"),
        pytest.param("_orig_mod.layers.0.weight", "layers.0.weight", id="compile"),
        pytest.param("_fsdp_wrapped_module.layers.0._fsdp_wrapped_module.w", "layers.0.w", id="fsdp1"),
        pytest.param("layers.0._checkpoint_wrapped_module.w", "layers.0.w", id="checkpoint"),
        pytest.param("my.module.w", "my.module.w", id="a-module-called-module"),
    ],
)
def test_names_lose_what_wrappers_put_in(name: str, expected: str) -> None:
    assert plain_name(name) == expected
