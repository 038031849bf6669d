"""The exact list of a model's named tensors, and the counts that are summed from it."""

from scaletui_engine.tensors.count import ParameterCount, count_parameters
from scaletui_engine.tensors.model import tensors
from scaletui_engine.tensors.stage import stage_tensors

__all__ = ["ParameterCount", "count_parameters", "stage_tensors", "tensors"]
