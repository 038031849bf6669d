"""A plan whose axes do not divide the GPUs is refused with one that can run."""

from __future__ import annotations

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.errors import WorldSizeError
from scaletui_engine.validate import problem


@pytest.mark.parametrize(
    ("model", "gpus", "degrees"),
    [
        ("llama3-70b", 60, {"tp": 4, "pp": 4}),
        ("llama3-70b", 64, {"tp": 3}),
        ("llama3-8b", 8, {"tp": 16}),
        ("llama3-8b", 12, {"pp": 5, "tp": 2}),
        ("llama3-8b", 24, {"cp": 7}),
    ],
)
def test_what_is_suggested_is_valid(model: str, gpus: int, degrees: dict[str, int]) -> None:
    with pytest.raises(WorldSizeError) as refused:
        scenario_from(Choices(model=model, gpu="h100", gpus=gpus, **degrees))  # type: ignore[arg-type]
    assert refused.value.nearest is not None
    name, value = refused.value.nearest.split()
    other = {**degrees, name: int(value)}
    assert problem(scenario_from(Choices(model=model, gpu="h100", gpus=gpus, **other))) is None  # type: ignore[arg-type]


def test_the_axis_that_changes_least_is_suggested() -> None:
    """5 of 60 / 4 = 15 leaves 16 of 80 layers a stage; tp 3 would not divide 64 heads."""
    with pytest.raises(WorldSizeError, match=r"nearest valid: pp 5$"):
        scenario_from(Choices(model="llama3-70b", gpu="h100", gpus=60, tp=4, pp=4))
