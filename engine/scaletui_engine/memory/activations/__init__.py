"""Activations kept for the backward pass, tensor by tensor."""

from scaletui_engine.memory.activations.layer import LayerActivations, layer_activations
from scaletui_engine.memory.activations.saved import Saved

__all__ = ["LayerActivations", "Saved", "layer_activations"]
