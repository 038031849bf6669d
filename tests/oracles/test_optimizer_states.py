"""Optimizer states as torch's own optimizers allocate them, after one real step."""

from __future__ import annotations

import pytest
import torch

from scaletui_engine.model import Role
from scaletui_engine.optimizers import optimizer, state_bytes, step_bytes
from scaletui_engine.precisions import precision

pytestmark = pytest.mark.torch

SHAPES = [(48, 32), (7, 5), (33,), (1,)]


def _built(name: str, parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    if name == "adafactor":
        return torch.optim.Adafactor(parameters)
    if name == "muon":
        return torch.optim.Muon(parameters)
    if name in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, momentum=0.9 if name == "momentum" else 0.0)
    return torch.optim.AdamW(parameters, fused=name == "adamw-fused")


def _bytes(built: torch.optim.Optimizer, *, counts: bool) -> int:
    """Bytes of the step counts, or of everything else."""
    held = [
        (key, value) for state in built.state.values() for key, value in state.items() if value is not None
    ]
    tensors = [(key, value) for key, value in held if isinstance(value, torch.Tensor)]
    return sum(value.numel() * value.element_size() for key, value in tensors if (key == "step") == counts)


@pytest.mark.parametrize("recipe", ["fp32", "bf16-pure"])
@pytest.mark.parametrize("name", ["adamw", "adamw-fused", "sgd", "momentum", "adafactor", "muon"])
def test_states_equal_torchs(name: str, recipe: str) -> None:
    shapes = [shape for shape in SHAPES if name != "muon" or len(shape) == 2]
    dtype = torch.float32 if recipe == "fp32" else torch.bfloat16
    parameters = [torch.nn.Parameter(torch.ones(shape, dtype=dtype)) for shape in shapes]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    built = _built(name, parameters)
    built.step()
    rule = optimizer(name)
    predicted = sum(state_bytes(rule, precision(recipe), shape, Role.MLP) for shape in shapes)
    assert predicted == _bytes(built, counts=False)
    assert step_bytes(rule, len(shapes)) == _bytes(built, counts=True)
