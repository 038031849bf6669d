"""Optimizer states: bytes of a tensor, by hand and as torch's optimizers allocate them."""

from __future__ import annotations

import pytest

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.model import Role
from scaletui_engine.optimizers import optimizer, optimizer_ids, state_bytes, step_bytes
from scaletui_engine.precisions import precision

MATRIX, VECTOR = (4096, 1024), (4096,)
N = 4096 * 1024

STATES = [
    ("adamw", "bf16-mixed", MATRIX, Role.MLP, 8 * N),
    ("adamw-fused", "bf16-pure", MATRIX, Role.MLP, 4 * N),
    ("adamw", "fp8-lm", MATRIX, Role.MLP, 3 * N),
    ("adam8bit", "bf16-mixed", MATRIX, Role.MLP, 2 * (N + 4 * (N // 256 + 256))),
    ("adam8bit", "bf16-mixed", (100,), Role.NORM, 2 * 4 * 100),
    ("adam8bit", "bf16-pure", (4097,), Role.NORM, 2 * 2 * 4097),
    ("adam4bit", "bf16-mixed", MATRIX, Role.MLP, 2 * (N // 2 + 4 * (N // 128 + 16))),
    ("sgd", "bf16-mixed", MATRIX, Role.MLP, 0),
    ("momentum", "bf16-mixed", MATRIX, Role.MLP, 4 * N),
    ("lion", "bf16-mixed", MATRIX, Role.MLP, 4 * N),
    ("adafactor", "bf16-mixed", MATRIX, Role.MLP, 4 * (4096 + 1024)),
    ("adafactor", "bf16-mixed", VECTOR, Role.NORM, 4 * 4096),
    ("muon", "bf16-mixed", MATRIX, Role.MLP, 4 * N),
    ("muon", "bf16-mixed", MATRIX, Role.EMBEDDING, 8 * N),
    ("muon", "bf16-mixed", VECTOR, Role.NORM, 8 * 4096),
    ("adamw", "bf16-mixed", (0, 1024), Role.MLP, 0),
    ("adafactor", "bf16-mixed", (0, 1024), Role.MLP, 0),
]


@pytest.mark.parametrize(("name", "recipe", "shape", "role", "expected"), STATES)
def test_state_bytes(name: str, recipe: str, shape: tuple[int, ...], role: Role, expected: int) -> None:
    assert state_bytes(optimizer(name), precision(recipe), shape, role) == expected


@pytest.mark.parametrize("name", optimizer_ids())
def test_every_optimizer_has_a_row_and_a_source(name: str) -> None:
    assert name in [row[0] for row in STATES]
    assert len(optimizer(name).source) > 15


def test_step_counts() -> None:
    assert step_bytes(optimizer("adamw"), 291) == 4 * 291
    assert step_bytes(optimizer("sgd"), 291) == 0
    assert optimizer("adamw-fused").step_on_device
    assert not optimizer("adamw").step_on_device


def test_unknown_optimizer() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown optimizer 'adam', did you mean 'adamw'\?"):
        optimizer("adam")
